"""Tables that people read, one file per subject, and the forms in which they are printed."""
