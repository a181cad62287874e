"""Reading a workspace: corpus, questions, key points, setups, judges, saved answers; checking and making one."""
