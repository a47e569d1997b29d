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
    let firstName: String?
    let lastName: String?
    let email: String
    let phone: String
    let created: Moment
    var isGuest = false
    var isConfirmed = false
    /// `nil` until the first sign-in.
    var timesLoggedIn: Int?

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
    }

    /// The user as RUA answers it. Source: observed, qa; `ios` needs `id`, `username`, `email`, `sdkEntity` and
    /// `sdkPartner` to decode it.
    var json: JSON {
        [
            "id": JSON(id), "username": .string(username), "title": nil, "firstName": JSON(firstName),
            "lastName": JSON(lastName), "email": .string(email), "phone": .string(phone), "language": "en",
            "sdkEntity": .string(entityID), "sdkPartner": .string(partnerID), "createdAt": .string(timestamp),
            "updatedAt": .string(timestamp), "enabled": true, "partnerId": .string(partnerID), "applicationId": nil,
            "timesLoggedIn": timesLoggedIn.map { JSON($0) } ?? .null, "roles": [["role": "ROLE_USER"]],
            "socialProviders": nil, "guest": .bool(isGuest), "accountNonExpired": true, "accountNonLocked": true,
            "credentialsNonExpired": true, "timezone": "GMT",
        ]
    }

    /// RUA leaves the zone out; the time is UTC.
    private var timestamp: String { String(created.rfc3339.dropLast()) }
}
