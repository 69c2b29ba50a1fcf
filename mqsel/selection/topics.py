"""A topic: what is published goes to the subscriptions that select it. Follows selection §4.

Each subscription has a queue; all selectors are evaluated before any queue gets the message.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from mqsel.carets import shortened, type_name
from mqsel.errors import MQRC, ArgumentError, SelectorError, SelectorLimitError, SelectorNotAlterable, SubscriptionError
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
    """A subscription of a `Topic`, which creates it.

    Attributes:
        name: The name of the subscription.
        selector: The selector, as you passed it.
        type: Who selects the messages, a `SelectionType`.
        durable: Whether the subscription stays if its subscriber closes.
        active: Whether it has a subscriber.
        queue: The `Queue` of the messages that were selected for it.
    """

    __slots__ = ("active", "durable", "name", "queue", "selector", "test", "type")

    def __init__(self, name: str, selector: str, presented: Presented, queue: Queue, *, durable: bool) -> None:
        self.name, self.selector, self.type, self.test = name, selector, presented.type, presented.test
        self.queue, self.durable, self.active = queue, bool(durable), True

    def __repr__(self) -> str:
        kind = f"{'' if self.durable else 'non-'}durable, {'' if self.active else 'in'}active, {self.type.name}"
        return f"<Subscription {self.name!r} {self.selector!r} {kind}, {len(self.queue)} messages>"


class Topic:
    """A topic in memory: its subscriptions get the published messages that they select.

    Threads may share a topic, and you can pickle it.

    Args:
        dialect: The `Dialect` of the selectors, or its name. The default is IBM_MQ.
        providers: Extended message selection providers, which are asked in this order about texts that are not
            selectors. The default is none.
        complexity: The limits for complex selectors, a `Complexity`. None: no limits.
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
        """Create a subscription, which from now on collects the messages that its selector selects.

        Args:
            name: The name of the subscription.
            selector: The selector. The default is empty: every message.
            durable: Whether the subscription stays if its subscriber closes. The default is False.

        Raises: SelectorError: if the text is not a selector and no provider accepts it (2551), if the selector can
            never select (2504), or if it is too complex.
            SubscriptionError: if there is a subscription of that name (2432).
        """
        return self._make(name, selector, self._present(selector), durable=durable)

    def define(self, name: str, selector: str = "") -> Subscription:
        """Create a durable subscription as an administrator does. It has no subscriber until you call `resume`.

        A text that is not a selector makes the subscription EXTENDED. It is compiled when a message is published.

        Args:
            name: The name of the subscription.
            selector: The selector. The default is empty: every message.

        Raises: SelectorError: if the selector can never select (2504), or is too complex.
            SubscriptionError: if there is a subscription of that name (2432).
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

        If an error is raised, no subscription gets the message.

        Args:
            message: A mapping, a `Message`, or the bytes of an IBM MQ message.

        Returns: the names of these subscriptions, in the order in which they were created.

        Raises: PropertyTypeError: if *message* is not a message.
            DecodeError: if bytes are not an IBM MQ message, or a provider can't read the body (2554).
            SelectorError: if the text of a defined subscription is not a selector, and no provider accepts it (2551).
        """
        item = arrived(message, self._dialect)
        with self._lock:
            found = _selecting(self._subscriptions.values(), item)
            for subscription in found:
                subscription.queue.add(item._replace(message=item.delivered()))
        return tuple([subscription.name for subscription in found])

    def close(self, name: str) -> None:
        """Remove the subscriber of a subscription.

        A durable subscription becomes inactive and collects further messages. Any other subscription ends.

        Args:
            name: The name of the subscription.
        """
        with self._lock:
            subscription = self._known(name)
            subscription.active = False
            if not subscription.durable:
                del self._subscriptions[name]

    def resume(self, name: str, selector: str | None = None) -> Subscription:
        """Resume an inactive durable subscription, with all messages that it has collected.

        Args:
            name: The name of the subscription.
            selector: None (default), or the selector of the subscription, which you may spell differently.

        Raises: SelectorError: if the text is not a selector, and no provider accepts it (2459).
            SelectorNotAlterable: if it is another selector (2524).
            SubscriptionError: if there is no subscription of that name (2428), or it is active (2429).
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
        """Resume an inactive durable subscription with another selector, if the dialect is not IBM_MQ.

        The subscription is created again, and its messages are lost, as *Jakarta Messaging 3.1*,
        Session.createDurableConsumer, defines it. If you pass its own selector, it keeps its messages. IBM MQ rejects
        another selector, also with MQSO_ALTER.

        Args:
            name: The name of the subscription.
            selector: The new selector.

        Raises: the errors of `subscribe`; the old subscription stays.
            SelectorNotAlterable: if the dialect is IBM_MQ and the selector is another one (2524).
            SubscriptionError: if there is no subscription of that name (2428), or it is active (2429).
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
        """End a subscription, and drop the messages that it has collected.

        Args:
            name: The name of the subscription.

        Raises: SubscriptionError: if there is no subscription of that name (2428).
        """
        with self._lock:
            self._known(name)
            del self._subscriptions[name]

    def subscriptions(self) -> tuple[Subscription, ...]:
        """Return the subscriptions as a tuple, in the order in which they were created."""
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
