"""Calls URLs, but none inside the operator's own network by default.

spec        parses a payload into a request
target      parses a URL so strictly that only one interpretation is left
guard       decides which targets may be reached (SSRF policy only)
connecting  enforces the policy: resolves each name once, opens sockets only to checked addresses
answer      turns a response into the outcome of the attempt
executor    runs one attempt: headers, redirects, timeouts
webhook     runs one attempt of a signed POST through the HTTP executor
poster      sends requests of other services, such as webhooks, with the same guard
"""

from rota.executors.http.executor import HttpExecutor
from rota.executors.http.guard import TargetGuard
from rota.executors.http.webhook import WebhookExecutor, WebhookSigning, build_webhook_signing

__all__ = [
    "HttpExecutor",
    "TargetGuard",
    "WebhookExecutor",
    "WebhookSigning",
    "build_webhook_signing",
]
