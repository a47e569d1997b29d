internal import Synchronization

/// Messages from any thread to the one that waits for many descriptors, among them the mailbox's own.
final class Mailbox<Message: Sendable>: Sendable {
    /// Wakes the thread up.
    let wakeUp: WakeUp
    private let messages = Mutex<[Message]>([])

    init() throws(ServerError) { wakeUp = try WakeUp() }

    /// Leaves a message; the thread is woken for the first of several.
    func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    /// Takes all messages.
    func take() -> [Message] {
        wakeUp.clear()
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
