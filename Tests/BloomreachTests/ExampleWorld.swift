import JSON
import Support
import Tokens

/// The names of the example world, as in the fixtures and the vendor's spec.
///
/// Every key is invented; tokens are literal texts, so that a minting fault cannot hide a reading fault.
enum Example {
    static let project = "/track/v2/projects/demo-project-1"
    static let customers = project + "/customers"
    static let events = project + "/customers/events"
    static let clicks = project + "/campaigns/clicks"
    static let batch = project + "/batch"
    static let data = "/data/v2/projects/demo-project-1/customers"
    static let attributes = data + "/attributes"
    static let inbox = "/webxp/projects/demo-project-1/appinbox/fetch"
    static let markAsRead = "/webxp/projects/demo-project-1/appinbox/markasread"
    static let selfCheck = "/campaigns/send-self-check-notification?project_id=demo-project-1"
    static let mint = "/webxp/exampleapp/customertokens"
    static let streamInbox = "/webxp/streams/demo-stream-1/appinbox/fetch"
    static let streamCustomers = "/track/u/v1/customers?stream_id=demo-stream-1"
    static let streamEvents = "/track/u/v1/customers/events?stream_id=demo-stream-1"
    static let privateEvents = "/track/u/v1/customers/events?stream_id=demo-private-stream-1"

    static let secret = "demo-secret-not-real-1"
    static let streamSecret = "demo-stream-secret-not-real-1"
    static let streamKey = "demo-stream-key-not-real-1"

    static let cookieAna = "c0000000-0000-4000-8000-00000000000a"
    static let cookieBen = "c0000000-0000-4000-8000-00000000000b"
    static let cookieGuest = "c0000000-0000-4000-8000-00000000000c"
    static let ana = #"{"cookie":"\#(cookieAna)","registered":"ana@example.test"}"#
    static let ben = #"{"cookie":"\#(cookieBen)","registered":"ben@example.test"}"#
    static let guest = #"{"cookie":"\#(cookieGuest)"}"#

    private static let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InByaXZrZXktZGVtby0xIn0"
    /// Ana's customer token, which expires at 1800003600.
    static let jwtAna =
        header + ".eyJzdWIiOnsicmVnaXN0ZXJlZCI6ImFuYUBleGFtcGxlLnRlc3QifSwiZXhwIjoxODAwMDAzNjAwfQ"
        + ".1xM9qyLS5dkvY2Cs-gpJoBAK9G_03kp2gSl0NnlBJcE"
    /// The same, expired at 1799999000.
    static let jwtAnaOld =
        header + ".eyJzdWIiOnsicmVnaXN0ZXJlZCI6ImFuYUBleGFtcGxlLnRlc3QifSwiZXhwIjoxNzk5OTk5MDAwfQ"
        + ".LCX3aLSlOIAgV0UgK0So7rYL4jTTB6ArmSGuNreXW1M"
    /// Ana's token for the stream, which expires at 1800000900.
    static let jwtStream =
        "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCIsImtpZCI6InNpZ25rZXktZGVtby0xIn0"
        + ".eyJleHAiOjE4MDAwMDA5MDAsImlkcyI6eyJyZWdpc3RlcmVkIjoiYW5hQGV4YW1wbGUudGVzdCJ9fQ"
        + ".mPj93XdGhFlLkD9pCgZLSScbdfpjt3mKOi12fT1D8ug3WAG7SJYuc7JFyL6sUj7CfJKRJhJ_NlWcpwX9vgeQNw"

    static func body(_ ids: String, _ members: String = "") -> String {
        #"{"customer_ids":\#(ids)\#(members.isEmpty ? "" : ",")\#(members)}"#
    }

    static let tracked = #"{"errors":[],"success":true}"#
    static let done = #"{"success":true}"#

    /// The error form of authentication and of most families.
    static func error(_ text: String) -> String { #"{"success":false,"error":"\#(text)"}"# }
    /// The error form of tracking.
    static func errors(_ text: String) -> String { #"{"success":false,"errors":["\#(text)"]}"# }
    /// The error form of data.
    static func errors(_ field: String, _ text: String) -> String {
        #"{"success":false,"errors":{"\#(field)":["\#(text)"]}}"#
    }

    static let noAccessKey = error("Access key not provided")
    static let notAccepted = error("Access key type not accepted")
    static let invalidToken = error("invalid token")
    static let expired = #"{"success":false,"error":"token has invalid claims: token is expired","token_expired":true}"#
    static let mismatch = error("token does not belong to these customer ids")
    static let notFound =
        #"{"success":false,"errors":[{"code":404,"description":"No such endpoint","message":"Not Found"}]}"#
    static let unreadable = "BadRequest: The browser (or proxy) sent a request that this server could not understand."
}

extension World.Fields {
    /// The public key with all permissions.
    static let token = authorization("Token pubkey-demo-1")
    /// The public key that may not use the app inbox.
    static let limited = authorization("Token pubkey-demo-limited")
    static let basic = authorization("Basic cHJpdmtleS1kZW1vLTE6ZGVtby1zZWNyZXQtbm90LXJlYWwtMQ==")
    static let bearer = bearer(Example.jwtAna)
    static let streamBearer = bearer(Example.jwtStream)

    static func bearer(_ token: String) -> Self { authorization("Bearer " + token) }

    static func authorization(_ value: String) -> Self { [("authorization", value)] }
}

extension World {
    /// A sandbox of a server whose accounts differ from the repository's.
    static func under(accounts changes: [(old: String, new: String)]) async throws -> World {
        let fixtures = try OwnFixtures()
        try fixtures.put("bloomreach/accounts.yaml", changes)
        return try await World(on: Stage(fixtures.emulator(of: "bloomreach")))
    }

    /// Changes a customer with the public key; `properties` is JSON.
    func update(_ ids: String, _ properties: String = "{}") async throws -> ReceivedAnswer {
        try await call(.post, Example.customers, .token, Example.body(ids, #""properties":\#(properties)"#))
    }

    /// Tracks an event with the public key.
    func track(_ ids: String, _ type: String = "view") async throws -> ReceivedAnswer {
        try await call(.post, Example.events, .token, Example.body(ids, #""event_type":"\#(type)""#))
    }

    /// Asks for attributes with the public key; `list` is the inside of their JSON array.
    func attributes(_ list: String, of ids: String) async throws -> ReceivedAnswer {
        try await call(.post, Example.attributes, .token, Example.body(ids, #""attributes":[\#(list)]"#))
    }

    /// A customer with all events from the control API; `customer` is the JSON of ids, or a registered id.
    func customer(_ ids: String) async throws -> ReceivedAnswer {
        try await control(.post, "state/bloomreach/read-customer", #"{"customer":\#(ids)}"#)
    }
}

enum ContentExample {
    static let messages = "/webxp/s/demo-project-1/inappmessages"
    static let blocks = "/webxp/s/demo-project-1/inappcontentblocks?v=2"
    static let bundle = "/wxstatic/projects/demo-project-1/bundle-ios.json?v=2"
    static let consents = "/data/v2/projects/demo-project-1/consent/categories"
    static let segments = "/webxp/projects/demo-project-1/segments"
    static let recommendations = "/optimization/streams/demo-stream-1/recommend/user"

    static func ofAna(_ members: String = "") -> String { Example.body(Example.ana, members) }
    static func ofBen(_ members: String = "") -> String { Example.body(Example.ben, members) }

    /// The first answer of Ana's inbox, which the contract case of the app inbox shows whole.
    static func anasInbox() async throws -> String { try await World().fetchInbox().text }

    static let staleToken = #"{"success":false,"error":"invalid sync token"}"#
    static let noMessages = #"{"success":true,"messages":[]}"#
}

extension World {
    func fetchInbox(_ members: String = "") async throws -> ReceivedAnswer {
        try await call(.post, Example.inbox, .token, ContentExample.ofAna(members))
    }

    func markAsRead(_ ids: String, token: String = #""v1.1.1.2""#) async throws -> ReceivedAnswer {
        try await call(
            .post, Example.markAsRead, .token, ContentExample.ofAna(#""message_ids":\#(ids),"sync_token":\#(token)"#))
    }

    @discardableResult
    func act(_ action: String, _ members: String) async throws -> ReceivedAnswer {
        try await control(.post, "state/bloomreach/" + action, members)
    }
}

extension ReceivedAnswer {
    var messageIDs: [String] { json["messages"]?.array?.compactMap { $0["id"]?.string } ?? [] }
}

/// Tokens with freely chosen text, for what no minting call would make.
enum Forged {
    static let customerHeader = #"{"alg":"HS256","typ":"JWT","kid":"privkey-demo-1"}"#
    static let streamHeader = #"{"alg":"HS512","typ":"JWT","kid":"signkey-demo-1"}"#
    static let anaClaims = #"{"sub":{"registered":"ana@example.test"},"exp":1800003600}"#
    static let streamClaims = #"{"exp":1800000900,"ids":{"registered":"ana@example.test"}}"#

    static func customer(
        header: String = customerHeader, claims: String = anaClaims, secret: String = Example.secret
    ) throws -> String {
        try signed(header, claims, secret, .hs256)
    }

    static func stream(
        header: String = streamHeader, claims: String = streamClaims, secret: String = Example.streamSecret
    ) throws -> String {
        try signed(header, claims, secret, .hs512)
    }

    private static func signed(
        _ header: String, _ claims: String, _ secret: String, _ algorithm: Algorithm
    ) throws -> String {
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let key = try SigningKey.secret(secret)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: algorithm))
    }
}
