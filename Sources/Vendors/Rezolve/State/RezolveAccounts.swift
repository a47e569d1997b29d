import Emulation
import JSON
import Tokens

/// A company whose sign-in server signs tokens with a secret shared with Rezolve.
final class RezolvePartner: Sendable {
    /// Digits, usually two to four.
    let id: String
    /// Opaque, compared byte for byte.
    let apiKey: String
    /// `nil` for a partner without one.
    let authKey: RezolveAuthKey?

    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("id", "api_key", "auth_key")
        let id = try entry.required("id").string()
        let text = try entry["auth_key"]?.string()
        do {
            authKey = try text.map { text throws(KeyError) in try RezolveAuthKey(text, of: id) }
        } catch {
            throw node.problem("the auth key cannot be used: \(error)")
        }
        (self.id, apiKey) = (id, try entry.required("api_key").string())
    }
}

/// The secret that a partner shares with Rezolve: the UTF-8 bytes of a text, not decoded.
final class RezolveAuthKey: Sendable {
    /// The text as printed, used to diagnose wrong encodings.
    let text: String
    let signing: SigningKey
    let verification: VerificationKey

    /// - Parameter partner: the id of the partner, which names the key in findings.
    init(_ text: String, of partner: String? = nil) throws(KeyError) {
        self.text = text
        signing = try SigningKey.secret(text)
        var verification = signing.verificationKey
        verification.id = partner.map { "partner \($0)" }
        self.verification = verification
    }
}

/// What the fixtures provide: partners, and the customers and users that every sandbox starts with.
struct RezolveAccounts: Sendable {
    let partners: [RezolvePartner]
    let customers: [RezolveCustomer]
    let users: [RUAUser]
    /// The device id of minted login tokens unless the request gives another.
    let sampleDeviceID: String

    func partner(apiKey: ArraySlice<UInt8>) -> RezolvePartner? {
        partners.first { $0.apiKey.hasSameBytes(as: apiKey) }
    }

    func partner(id: String) -> RezolvePartner? { partners.first { $0.id.hasSameBytes(as: id) } }
}

extension [RezolvePartner] {
    /// What is wrong with a customer, given these partners.
    func complaint(about customer: RezolveCustomer) -> String? {
        contains { $0.id == customer.partnerID }
            ? nil : "customer \(customer.entityID) has the unknown partner \(customer.partnerID)"
    }
}

// MARK: - accounts.yaml

extension RezolveAccounts {
    /// Reads `accounts.yaml`.
    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let document = try fixtures.document("accounts.yaml").mapping("partners", "customers", "users", "device_id")
        sampleDeviceID = try document.required("device_id").string()
        var partners: [RezolvePartner] = []
        for node in try document.required("partners").elements() {
            let partner = try RezolvePartner(node)
            guard !partner.id.isEmpty, partner.id.allSatisfy({ $0.isASCII && $0.isNumber }) else {
                throw node.problem("the partner id “\(partner.id)” is not made of digits")
            }
            guard !partners.contains(where: { $0.id == partner.id || $0.apiKey.hasSameBytes(as: partner.apiKey) })
            else {
                throw node.problem("another partner has the id \(partner.id) or its api key")
            }
            partners.append(partner)
        }
        self.partners = partners
        customers = try RecordTable.list(
            try document.required("customers"), .fixture(fixtures), complaint: partners.complaint(about:))
        users = try RecordTable.list(
            try document.required("users"), .fixture(fixtures),
            prepare: RecordTable.preparation(RecordTable(fixtures: customers)))
    }
}
