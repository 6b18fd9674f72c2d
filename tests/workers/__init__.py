"""What the tests of processes share: places to work in, and the programs that child processes run."""
