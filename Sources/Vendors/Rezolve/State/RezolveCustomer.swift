import Emulation

/// A user of a partner as Rezolve knows it: the entity that tokens name, with profile, books and wallet.
struct RezolveCustomer: Sendable {
    /// The id that Rezolve gave out at registration.
    let entityID: String
    /// The partner the customer belongs to.
    let partnerID: String
    /// The id the partner knows the customer by; unique per partner.
    let partnerEntityID: String
    /// When the customer registered.
    let created: Moment
    /// The pair whose public half encrypts card numbers.
    var keyPair = DeferredKeyPair()
    /// Whether the fixtures hold that pair, so that it need not be kept.
    var hasKeyFile = false
    var profile: RezolveProfile
    var phones: [RezolvePhone] = []
    var addresses: [RezolveAddress] = []
    var cards: [RezolveCard] = []

    /// Whom the partner knows the customer as.
    var partnerUser: RezolveState.PartnerUser {
        RezolveState.PartnerUser(partnerID: partnerID, partnerEntityID: partnerEntityID)
    }

    /// ours: a bound of each book and of the wallet, so that a client in a loop cannot fill the machine.
    private static let maximumEntries = 1000

    /// Refuses another entry where a book is full.
    ///
    /// - Throws: ``RezolveFailure/bodyTooLarge`` (ours: nothing is known of the vendor's own limits).
    static func checkRoom(for count: Int) throws(RezolveRefusal) {
        guard count < maximumEntries else {
            throw Refusal(
                .bodyTooLarge, because: "the customer's book has \(count) entries; at most \(maximumEntries) are kept")
        }
    }

    /// A customer who has nothing but an email address, perhaps.
    init(entityID: String, partnerID: String, partnerEntityID: String, email: String = "", created: Moment) {
        self.entityID = entityID
        self.partnerID = partnerID
        self.partnerEntityID = partnerEntityID
        self.created = created
        profile = RezolveProfile(email: email, updated: created)
    }
}
