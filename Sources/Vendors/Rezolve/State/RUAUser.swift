import Emulation
import JSON

/// A user of RUA, the sample sign-in server; it stands for one customer.
struct RUAUser: Sendable {
    let id: Int
    /// The customer the user stands for.
    let entityID: String
    let partnerID: String
    let username: String
    /// `nil` for guests, who have none.
    var password: String?
    var firstName: String?
    var lastName: String?
    var email: String
    var phone: String
    let created: Moment
    /// When the details changed last.
    var updated: Moment
    var isGuest = false
    var isConfirmed = false
    /// `nil` until the first sign-in.
    var timesLoggedIn: Int?
    /// The devices whose sessions were logged out, the latest last.
    private(set) var loggedOutDevices: [String] = []
    /// ours: a bound; a session that was pushed out counts as open again.
    static let maximumLoggedOutDevices = 100

    init(
        id: Int, customer: RezolveCustomer, username: String, password: String?, firstName: String?, lastName: String?,
        email: String, phone: String, created: Moment
    ) {
        self.id = id
        entityID = customer.entityID
        partnerID = customer.partnerID
        self.username = username
        self.password = password
        self.firstName = firstName
        self.lastName = lastName
        self.email = email
        self.phone = phone
        self.created = created
        updated = created
    }

    /// Whether the session on that device was logged out. One that was never opened counts as open: a partner's own server
    /// may have signed its token (ours).
    func isLoggedOut(on device: String) -> Bool { loggedOutDevices.contains { $0.hasSameBytes(as: device) } }

    /// The most sign-ins that are counted. ours.
    static let mostLogins = 1_000_000_000

    /// Opens a session on that device, also after a logout, and counts the sign-in.
    mutating func logIn(on device: String) {
        timesLoggedIn = Ordinal.next(after: timesLoggedIn ?? 0, upTo: Self.mostLogins)
        loggedOutDevices.removeAll { $0.hasSameBytes(as: device) }
    }

    /// Ends the session on that device.
    mutating func logOut(on device: String) {
        guard !isLoggedOut(on: device) else { return }
        if loggedOutDevices.count == Self.maximumLoggedOutDevices { loggedOutDevices.removeFirst() }
        loggedOutDevices.append(device)
    }

    /// The user as RUA answers it. Source: observed, qa; `ios` needs `id`, `username`, `email`, `sdkEntity` and
    /// `sdkPartner` to decode it.
    var json: JSON {
        [
            "id": JSON(id), "username": .string(username), "title": nil, "firstName": JSON(firstName),
            "lastName": JSON(lastName), "email": .string(email), "phone": .string(phone), "language": "en",
            "sdkEntity": .string(entityID), "sdkPartner": .string(partnerID), "createdAt": Self.timestamp(created),
            "updatedAt": Self.timestamp(updated), "enabled": true, "partnerId": .string(partnerID),
            "applicationId": nil,
            "timesLoggedIn": timesLoggedIn.map { JSON($0) } ?? .null, "roles": [["role": "ROLE_USER"]],
            "socialProviders": nil, "guest": .bool(isGuest), "accountNonExpired": true, "accountNonLocked": true,
            "credentialsNonExpired": true, "timezone": "GMT",
        ]
    }

    /// RUA leaves the zone out; the time is UTC.
    private static func timestamp(_ moment: Moment) -> JSON { .string(String(moment.rfc3339.dropLast())) }
}
