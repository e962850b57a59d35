"""What settled calls tell about an agent: the class of each call, its keys, what it answered, and whether it changed
anything. Rules of the profile `adaptive` read it; nothing here judges.
"""
