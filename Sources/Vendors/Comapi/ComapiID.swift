import JSON

/// An id that clients choose: any text, equal to another one when both have the same bytes.
///
/// Strings of Swift are equal when they look alike, so `é` in one character and in two would be one user.
struct ComapiID: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: some StringProtocol) { self.text = String(text) }

    static func == (left: ComapiID, right: ComapiID) -> Bool { left.text.hasSameBytes(as: right.text) }

    static func < (left: ComapiID, right: ComapiID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    var json: JSON { .string(text) }
}
