"""A topic: what is published goes to the subscriptions that select it. Follows selection §4.

Each subscription has a queue; all selectors are evaluated before any queue gets the message.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from mqsel.errors import (
    MQRC,
    ArgumentError,
    SelectorError,
    SelectorLimitError,
    SelectorNotAlterable,
    SubscriptionError,
    as_flag,
    shortened,
    type_name,
)
from mqsel.language.dialect import IBM_MQ, Dialect, as_dialect, core_of
from mqsel.selection.queues import Arrived, Queue, arrived
from mqsel.selection.selectors import (
    PROTECTION,
    Complexity,
    Presented,
    Provider,
    SelectionType,
    deferred,
    given_providers,
    present,
    same_selector,
)


class Subscription:
    """A subscription of a `Topic`, which makes it.

    Attributes:
        name: of the subscription.
        selector: as it was given.
        type: who selects; see `SelectionType`.
        durable: it outlives its subscriber.
        active: a subscriber is there.
        queue: what was selected for it.
    """

    __slots__ = ("active", "durable", "name", "queue", "selector", "test", "type")

    def __init__(self, name: str, selector: str, presented: Presented, queue: Queue, *, durable: bool) -> None:
        self.name, self.selector, self.type, self.test = name, selector, presented.type, presented.test
        self.queue, self.durable, self.active = queue, as_flag("durable", durable), True

    def __repr__(self) -> str:
        kind = f"{'' if self.durable else 'non-'}durable, {'' if self.active else 'in'}active, {self.type.name}"
        return f"<Subscription {self.name!r} {self.selector!r} {kind}, {len(self.queue)} messages>"


class Topic:
    """Subscriptions, and what they select of what is published. May be shared by threads, and pickled.

    Args:
        dialect: of the selectors, or the name of a preset.
        providers: extended message selection providers, asked in this order about what is no selector.
        complexity: what to do about complex selectors; None for nothing.
    """

    def __init__(
        self,
        dialect: Dialect | str = IBM_MQ,
        *,
        providers: Iterable[Provider] = (),
        complexity: Complexity | None = PROTECTION,
    ) -> None:
        self._dialect, self._providers, self._complexity = as_dialect(dialect), given_providers(providers), complexity
        self._lock = threading.RLock()
        self._subscriptions: dict[str, Subscription] = {}

    def subscribe(self, name: str, selector: str = "", *, durable: bool = False) -> Subscription:
        """Subscribe: from now on the subscription collects the messages that its selector selects.

        Raises: SelectorError: the selector is none, and no provider takes it (2551), can never select (2504), or is too
            complex. SubscriptionError: there is one of that name (2432).
        """
        return self._make(name, selector, self._present(selector), durable=durable)

    def define(self, name: str, selector: str = "") -> Subscription:
        """Subscribe as an administrator does: durably, and without a subscriber until `resume`.

        A text that is no selector makes it EXTENDED, and is compiled when a message is published.

        Raises: SelectorError: the selector can never select (2504), or is too complex. SubscriptionError: there is one
            of that name (2432).
        """
        try:
            presented = self._present(selector)
        except SelectorError as error:
            if error.reason is not MQRC.MQRC_SELECTION_NOT_AVAILABLE or isinstance(error, SelectorLimitError):
                raise
            presented = deferred(selector, self._dialect, self._providers)
        made = self._make(name, selector, presented, durable=True)
        made.active = False
        return made

    def _make(self, name: str, selector: str, presented: Presented, *, durable: bool) -> Subscription:
        if not isinstance(name, str):
            raise ArgumentError(f"the name of a subscription is a str, found a Python {type_name(name)}")
        with self._lock:
            if name in self._subscriptions:
                raise SubscriptionError(
                    f"there is a subscription {shortened(name)} already",
                    hint="resume it, or unsubscribe first",
                    reason=MQRC.MQRC_SUB_ALREADY_EXISTS,
                )
            queue = Queue(self._dialect, complexity=self._complexity)
            made = Subscription(name, selector, presented, queue, durable=durable)
            self._subscriptions[name] = made
        return made

    def publish(self, message: Any) -> tuple[str, ...]:
        """Deliver *message* to the subscriptions that select it.

        Returns: their names, in the order in which they were made.

        Raises: no subscription gets the message then. PropertyTypeError, DecodeError: no message; DecodeError with
            reason 2554: a body that a provider cannot read. SelectorError: the text of a subscription that was defined
            is no selector, and no provider takes it (2551).
        """
        item = arrived(message, self._dialect)
        with self._lock:
            found = _selecting(self._subscriptions.values(), item)
            for subscription in found:
                subscription.queue.add(item._replace(message=item.delivered()))
        return tuple([subscription.name for subscription in found])

    def close(self, name: str) -> None:
        """Let the subscriber go: a durable subscription becomes inactive and goes on collecting, another one ends."""
        with self._lock:
            subscription = self._known(name)
            subscription.active = False
            if not subscription.durable:
                del self._subscriptions[name]

    def resume(self, name: str, selector: str | None = None) -> Subscription:
        """Resume an inactive durable subscription, with all that it has collected.

        Args:
            selector: None, or the one that it was made with: spelled differently, it may be, but not another one.

        Raises: SelectorError: a text that is no selector, and that no provider takes (2459). SelectorNotAlterable:
            another selector (2524). SubscriptionError: there is none of that name (2428), or it is active (2429).
        """
        with self._lock:
            subscription = self._known(name)
            if subscription.active:
                raise SubscriptionError(
                    f"the subscription {shortened(name)} has a subscriber", reason=MQRC.MQRC_SUBSCRIPTION_IN_USE
                )
            if selector is not None and not same_selector(selector, subscription.selector, self._dialect):
                present(selector, self._dialect, providers=self._providers)
                raise SelectorNotAlterable(
                    f"this is another selector than the one of subscription {shortened(name)}",
                    selector=selector,
                    span=(0, len(selector)),
                    hint=f"resume it without a selector, or with {shortened(subscription.selector)}",
                    reason=MQRC.MQRC_SELECTOR_NOT_ALTERABLE,
                )
            subscription.active = True
            return subscription

    def alter(self, name: str, selector: str) -> Subscription:
        """Resume an inactive durable subscription with another selector, where the dialect is not IBM MQ's own.

        It is created again, and the messages it has collected are lost: *Jakarta Messaging 3.1*,
        Session.createDurableConsumer. With its own selector it is resumed with all of them. IBM MQ refuses another
        selector with MQSO_ALTER, too.

        Raises: as `subscribe`, and the old one stays. SelectorNotAlterable: another selector, of IBM MQ (2524).
            SubscriptionError: none of that name (2428), or active (2429).
        """
        is_refused = core_of(self._dialect).naming == "mqi"
        if not is_refused:
            self._present(selector)
        with self._lock:
            if is_refused or same_selector(selector, self._known(name).selector, self._dialect):
                return self.resume(name, selector)
            self.resume(name)
            self.unsubscribe(name)
            return self.subscribe(name, selector, durable=True)

    def unsubscribe(self, name: str) -> None:
        """End a subscription, and what it has collected with it.

        Raises: SubscriptionError: there is none of that name (2428).
        """
        with self._lock:
            self._known(name)
            del self._subscriptions[name]

    def subscriptions(self) -> tuple[Subscription, ...]:
        """List the subscriptions, in the order in which they were made."""
        with self._lock:
            return tuple(self._subscriptions.values())

    def _present(self, selector: str) -> Presented:
        return present(
            selector, self._dialect, complexity=self._complexity, providers=self._providers, for_subscription=True
        )

    def _known(self, name: str) -> Subscription:
        if not isinstance(name, str) or name not in self._subscriptions:
            raise SubscriptionError(f"there is no subscription {shortened(name)}", reason=MQRC.MQRC_NO_SUBSCRIPTION)
        return self._subscriptions[name]

    def __getstate__(self) -> tuple[Any, ...]:
        with self._lock:
            kept = [(s.name, s.selector, s.durable, s.active, s.queue) for s in self._subscriptions.values()]
            return self._dialect, self._providers, self._complexity, kept

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        dialect, providers, complexity, kept = state
        # Who was warned once is not warned again.
        self.__init__(dialect, providers=providers)  # type: ignore[misc]
        for name, selector, durable, active, queue in kept:
            try:
                presented = present(selector, dialect, providers=providers)
            except SelectorError:
                presented = deferred(selector, dialect, providers)
            made = Subscription(name, selector, presented, queue, durable=durable)
            made.active = active
            self._subscriptions[name] = made
        self._complexity = complexity


def _selecting(subscriptions: Iterable[Subscription], item: Arrived) -> list[Subscription]:
    """Find the subscriptions that select a message."""
    message, read = item.message, item.read
    if not item.selectable:
        return [s for s in subscriptions if s.type is SelectionType.NONE]
    extended = SelectionType.EXTENDED
    return [s for s in subscriptions if s.test(message if s.type is extended else read)]
