"""What a shell script runs: its grammar, the programs that wrap others, and what each program's options mean."""
