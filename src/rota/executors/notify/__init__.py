"""Tells people: e-mail, chat, and whatever else apprise can reach. Room: executors/notify.

spec       what a payload may say
template   texts with names in braces, and nothing cleverer
sending    one message to one channel, through apprise, in a thread
verdict    what came of it: sent, refused for good, or worth another try
executor   one attempt: all channels, each sent to once

Where a channel leads is a setting of the worker; payloads know names only.
"""

from rota.executors.notify.executor import NotifyExecutor
from rota.executors.notify.sending import Channel

__all__ = ["Channel", "NotifyExecutor"]
