"""A regular expression that backtracks forever."""

import re

def softmax(x):
    return re.match(r'(a|aa)+$', 'a' * 200 + 'b')
