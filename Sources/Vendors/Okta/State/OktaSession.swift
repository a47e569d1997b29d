import Emulation
import JSON

/// A user's session in a browser.
struct OktaSession: Sendable, Equatable {
    /// The value of the cookie `sid`.
    var id = ""
    var userID = ""
    var authenticated = Moment(unixSeconds: 0)
    /// How the user signed in, sorted; values of `amr`.
    var methods: [String] = []
}

extension OktaSession: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    var group: ExactText? { ExactText(userID) }
    var secretText: String? { id }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("user", &userID)
        coder.member("authenticated", &authenticated)
        coder.member("methods", &methods, or: [])
    }
}

/// A user's consent to scopes of a server, for a client.
struct OktaConsent: Sendable, Equatable {
    struct Key: Hashable, Sendable, CustomStringConvertible {
        let user: ExactText
        let client: ExactText
        let server: ExactText

        var description: String { JSON.array([user.json, client.json, server.json]).text }
    }

    var userID = ""
    var clientID = ""
    var serverID = ""
    var scopes: [String] = []
}

extension OktaConsent: KeyedRecord, CodedRecord {
    var key: Key { Key(user: ExactText(userID), client: ExactText(clientID), server: ExactText(serverID)) }
    var group: ExactText? { ExactText(userID) }

    func clash(over name: Never?) -> String { "\(userID) has another consent for \(clientID)" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("user", &userID)
        coder.member("client", &clientID)
        coder.member("server", &serverID)
        coder.member("scopes", &scopes)
    }
}
