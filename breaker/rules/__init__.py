"""The rules: each looks at a read-only view and reports what it finds; none of them owns state."""
