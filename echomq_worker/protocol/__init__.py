"""How the queue is spelled in Redis: keys, scripts, rows."""
