"""Calls a URL, and never one inside the operator's own network. Room: executors/http.

spec        what a payload may say
target      a URL, read so strictly that nobody can read it in another way
guard       which targets may be reached: the policy, and nothing but the policy
connecting  where the policy is enforced: names are resolved once, sockets open only to
            addresses that were judged
answer      what a response makes of the attempt
executor    one attempt: headers, redirects, time limits
webhook     one attempt of a signed POST, which goes the same way
"""

from rota.executors.http.executor import HttpExecutor
from rota.executors.http.guard import Guard
from rota.executors.http.webhook import Signing, WebhookExecutor, signing

__all__ = ["Guard", "HttpExecutor", "Signing", "WebhookExecutor", "signing"]
