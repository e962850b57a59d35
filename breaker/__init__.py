"""The judgement of toolbreaker as a library: pure, without I/O, clock or wire."""
