"""The worker plane's half of runs: it runs the code of workflows, and tells the trusted plane of each step."""
