"""Notifies people by e-mail, chat and every other service that apprise supports.

spec       parses a payload into a message
template   fills names in braces into texts
sending    sends one message to one channel, through apprise, in a thread
verdict    classifies the result: sent, refused for good, or worth a retry
executor   runs one attempt: all channels, each once

The worker's settings define where a channel leads; payloads name channels only.
"""

from rota.executors.notify.executor import NotifyExecutor
from rota.executors.notify.sender import NotifyChannel

__all__ = ["NotifyChannel", "NotifyExecutor"]
