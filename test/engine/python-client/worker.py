"""Completes the tasks of a topic. Each line of its output is the result of one task, or an error of the client."""

import logging
import sys

from camunda.external_task.external_task_worker import ExternalTaskWorker

base, topic, poll_ms, lock_ms = sys.argv[1:]


class ErrorLines(logging.Handler):
    """The client logs each error that it receives with the level INFO, together with the exception."""

    def emit(self, record):
        if record.exc_info or record.levelno >= logging.WARNING:
            print("error " + " ".join(record.getMessage().split()), flush=True)


logging.basicConfig(level=logging.INFO, handlers=[ErrorLines()])
worker = ExternalTaskWorker(
    worker_id="python",
    base_url=base,
    config={
        "auth_basic": {"username": "demo", "password": "demo"},
        "maxTasks": 5,
        "asyncResponseTimeout": int(poll_ms),
        "lockDuration": int(lock_ms),
        "sleepSeconds": 1,
    },
)
execute = worker.executor.execute_task


def execute_and_report(task, action):
    result = execute(task, action)
    print(f"completed {task.get_business_key()}", flush=True)
    return result


worker.executor.execute_task = execute_and_report
print("ready", flush=True)
worker.subscribe([topic], lambda task: task.complete())
