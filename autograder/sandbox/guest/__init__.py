"""All of the grader that is visible inside the jail. It holds no secrets and imports nothing outside this folder."""
