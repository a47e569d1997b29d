import Emulation
import JSON

/// A sign-in without a browser that has passed its first factor and waits for the second one.
struct OktaMFAToken: Sendable, Equatable {
    /// ours.
    static let lifetime = Duration.seconds(300)
    static let length = 20

    var id = ""
    /// What the first request asked for, and how its user signed in so far.
    var authorization = OktaAuthorization()
    var expires = Moment(unixSeconds: 0)
    var isUsed = false
}

extension OktaMFAToken: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    var secretText: String? { id }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("authorization", &authorization)
        coder.end("expires", &expires)
        coder.member("used", &isUsed, or: false)
    }
}
