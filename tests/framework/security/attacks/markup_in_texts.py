"""HTML, terminal escapes and a spreadsheet formula in every text."""

text = "=HYPERLINK('http://x')<script>alert(1)</script>\x1b]0;owned\x07\x1b[2J\u202e\x00\ud800"
print(text)

class Bad(Exception):
    pass

Bad.__name__ = Bad.__qualname__ = text.replace("\0", "").replace("\ud800", "")

def softmax(x):
    raise Bad(text)

raise Bad(text)
