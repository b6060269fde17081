"""Results that contain themselves."""

def softmax(x):
    d = {}
    d['d'] = d
    l = [d]
    l.append(l)
    return l
