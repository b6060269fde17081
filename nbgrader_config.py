load_subconfig("course_config.py")
