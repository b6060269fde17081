from autograder.base.nbgrader_steps import configure

configure(get_config(), load_subconfig)
