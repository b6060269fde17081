"""The part of the grader that is visible in the sandbox. It contains no secrets and imports nothing from outside this folder."""
