from autograder.chains import configure

configure(get_config(), load_subconfig)
