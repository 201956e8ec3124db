"""Background work: our row is the truth, the broker is a bell.

A use case calls `queue.enqueue_once` inside its transaction. After the commit a message
without content ("ring") wakes a worker, which claims the best job that may run now. Losing a
message, a worker or the whole broker therefore loses no work: `sweep` rings again.

models.py     Job, with the rules as constraints
queue.py      enqueue_once, claim, renew, set_progress, finish, release, cancel
handle.py     what a handler sees of its job
handlers.py   kind → function
run.py        claim one job, watch it while it runs, record its end
tasks.py      the two Celery tasks
ticks.py      what happens every so many seconds
sweep.py      rings again, takes over, gives up, expires
broker.py     kombu's file transport, made safe against processes killed in mid-write
"""
