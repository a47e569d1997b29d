import Emulation
import JSON
import Tokens

/// What a request presents, and what Rezolve's rules check.
struct RezolveFacts: RuleFacts {
    typealias Failure = RezolveFailure

    /// A part of the request; a token can also be judged without a request.
    enum Presented {
        case unknown
        case absent
        case value(String)
    }

    /// The part of a customer that decides; the journal does not keep its books.
    struct Owner {
        let entityID: String
        let partnerID: String
        let partnerEntityID: String

        init(_ customer: RezolveCustomer) {
            entityID = customer.entityID
            partnerID = customer.partnerID
            partnerEntityID = customer.partnerEntityID
        }
    }

    /// The session of the token's user on the token's device.
    struct Session {
        let user: Int
        let isLoggedOut: Bool

        init(_ user: RUAUser, on device: String) {
            self.user = user.id
            isLoggedOut = user.isLoggedOut(on: device)
        }
    }

    let switches: RezolveSwitches
    let moment: Moment
    /// Needed only to explain failures; released if there are none.
    private var vendor: Rezolve?

    /// Where the token was sent; `nil` without a request.
    var bearer: BearerToken?
    var token: RezolveToken?
    var apiKey: String?
    /// The partner that the api key names, or whose key fits.
    var partner: RezolvePartner?
    /// The partner whose key the signature is checked with.
    var signer: RezolvePartner?
    /// Whether the call registers a customer.
    var isRegistration = false
    /// Whether this is the renewal of the JWT page's iOS sample, which has no credential.
    var isSampleRenewal = false

    /// The customer that the token names.
    var owner: Owner?
    var session: Session?
    /// Why the token names no customer.
    var absence: String?
    /// Whether the route renews a token, which may have expired.
    var isRenewal = false
    var pathPartner = Presented.unknown
    var pathEntity = Presented.unknown
    var device = Presented.unknown

    var accounts: RezolveAccounts? { vendor?.accounts }
    var compact: CompactToken? { token?.compact }
    var key: RezolveAuthKey? { signer?.authKey }

    init(_ vendor: Rezolve, _ switches: RezolveSwitches, at moment: Moment) {
        self.vendor = vendor
        self.switches = switches
        self.moment = moment
    }

    /// Finds the partner that the api key names; a known key is not converted to text again.
    mutating func take(apiKey bytes: ArraySlice<UInt8>?) {
        guard let bytes else { return }
        partner = accounts?.partner(apiKey: bytes)
        apiKey = partner?.apiKey ?? String(decoding: bytes, as: UTF8.self)
        signer = partner
    }

    /// Without an api key, takes the only partner.
    mutating func takeOnlyPartner() {
        if apiKey == nil, accounts?.partners.count == 1 { partner = accounts?.partners.first }
    }

    mutating func dropExplanations() { vendor = nil }

    /// Finds the token's customer: by entity id, or for a registration JWT by the partner's own id.
    mutating func findOwner(in state: RezolveState) {
        guard let token else { return }
        let customer: RezolveCustomer? =
            switch token.kind {
            case .login: state.customers[token.entityID]
            case .registration:
                partner.flatMap { state.customer(partner: $0.id, partnerEntityID: token.partnerEntityID) }
            }
        find(customer, in: state)
    }

    /// Notes the customer and the token's session.
    mutating func find(_ customer: RezolveCustomer?, in state: RezolveState) {
        guard let token else { return }
        owner = customer.map(Owner.init)
        session = customer.flatMap { state.users.user(entity: $0.entityID) }.map { Session($0, on: token.deviceID) }
        absence = customer == nil ? state.absence(of: token) : nil
    }
}
