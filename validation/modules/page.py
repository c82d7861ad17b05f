def write(runs, verdicts): pass
