internal import Synchronization

/// Messages from any thread to one that waits for descriptors, including the mailbox's own.
final class Mailbox<Message: Sendable>: Sendable {
    let wakeUp: WakeUp
    private let messages = Mutex<[Message]>([])

    init() throws(ServerError) { wakeUp = try WakeUp() }

    /// Posts a message; only the first of several wakes the thread.
    func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    func take() -> [Message] {
        wakeUp.clear()
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
