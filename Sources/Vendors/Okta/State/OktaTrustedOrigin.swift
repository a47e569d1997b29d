import Emulation
import JSON

/// An origin that an administrator has registered for calls from browsers. Source: api.
struct OktaTrustedOrigin: Sendable, Equatable {
    /// As browsers write it; not all are addresses of the web, as with `capacitor://localhost`.
    var origin = ""
    /// Whether it may make such calls; registered origins may also be good for redirects alone.
    var allowsCORS = true

    init() {}

    init(_ origin: String, allowsCORS: Bool = true) {
        (self.origin, self.allowsCORS) = (Self.normalized(origin), allowsCORS)
    }

    /// Without the differences that do not count.
    static func normalized(_ origin: String) -> String { OktaAddress(origin)?.origin.text ?? origin }
}

extension OktaTrustedOrigin: KeyedRecord, CodedRecord {
    /// ours: so that a client in a loop cannot fill the memory.
    static let bound = RecordBound(count: 1000)

    var key: ExactText { ExactText(origin) }

    func clash(over name: Never?) -> String { "\(origin) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("origin", &origin)
        coder.member("cors", &allowsCORS, or: true)
        coder.check(!origin.isEmpty, or: "a trusted origin needs an origin")
    }
}
