"""Claude in the seats: requests, the desk they go through, prices, and the writer, reader and judge."""
