import Emulation
import JSON
import Tokens

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A payment card of a customer; its number is never kept.
struct RezolveCard: Sendable, Hashable {
    var id = ""
    var type = ""
    var brand = ""
    /// The first six digits of the number.
    var pan6 = ""
    /// The last four digits of the number.
    var pan4 = ""
    var shortName = ""
    var nameOnCard = ""
    /// As given, `MMYY` usually; `nil` where null was sent.
    var validFrom: String?
    var expiresOn = ""
    var addressID = ""

    var json: JSON {
        [
            "id": .string(id), "type": .string(type), "brand": .string(brand), "pan6": .string(pan6),
            "pan4": .string(pan4), "short_name": .string(shortName), "name_on_card": .string(nameOnCard),
            "valid_from": JSON(validFrom), "expires_on": .string(expiresOn), "address_id": .string(addressID),
        ]
    }
}

/// The wallet. Source: observed, vendor QA tests; reading a single card follows from the SDK's call.
extension Rezolve {
    static func listCards(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        .json(.array(customer.cards.map(\.json)))
    }

    static func createCard(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        var reader = FieldReader(try call.bodyObject())
        let shortName = reader.string("short_name", isRequired: true)
        let pan = reader.string("pan", isRequired: true)
        let pan6 = reader.string("pan6", isRequired: true)
        let pan4 = reader.string("pan4", isRequired: true)
        let brand = reader.string("brand", isRequired: true)
        let type = reader.string("type", isRequired: true)
        let nameOnCard = reader.string("name_on_card", isRequired: true)
        let expiresOn = reader.string("expires_on", isRequired: true)
        let addressID = reader.string("address_id", isRequired: true)
        let validFrom = reader.string("valid_from", isRequired: true, acceptsNull: true)
        try call.refuse(reader.problems)
        var card = RezolveCard(
            id: "", type: type ?? "", brand: brand ?? "", pan6: pan6 ?? "", pan4: pan4 ?? "",
            shortName: shortName ?? "", nameOnCard: nameOnCard ?? "", validFrom: validFrom,
            expiresOn: expiresOn ?? "", addressID: addressID ?? "")
        if let wait = try check(pan, of: card, call, customer) { return wait }
        try checkAddress(of: card, customer)
        try RezolveCustomer.checkRoom(for: customer.cards.count)
        // Drawn last: a refused request must not move the ids of a sandbox with a seed.
        card.id = call.identifiers.uuid()
        customer.cards.append(card)
        return .json(card.json, status: .created)
    }

    static func readCard(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        .json(customer.cards[try cardIndex(call, customer)].json)
    }

    /// Needs the names and the address, and changes of the rest what is sent.
    static func updateCard(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        let object = try call.bodyObject()
        var reader = FieldReader(object)
        let shortName = reader.string("short_name", isRequired: true)
        let nameOnCard = reader.string("name_on_card", isRequired: true)
        let addressID = reader.string("address_id", isRequired: true)
        let pan = reader.string("pan")
        let pan6 = reader.string("pan6")
        let pan4 = reader.string("pan4")
        let brand = reader.string("brand")
        let type = reader.string("type")
        let expiresOn = reader.string("expires_on")
        let validFrom = reader.string("valid_from", acceptsNull: true)
        try call.refuse(reader.problems)
        let index = try cardIndex(call, customer)
        let old = customer.cards[index]
        let card = RezolveCard(
            id: old.id, type: type ?? old.type, brand: brand ?? old.brand, pan6: pan6 ?? old.pan6,
            pan4: pan4 ?? old.pan4, shortName: shortName ?? old.shortName, nameOnCard: nameOnCard ?? old.nameOnCard,
            validFrom: object["valid_from"] == nil ? old.validFrom : validFrom, expiresOn: expiresOn ?? old.expiresOn,
            addressID: addressID ?? old.addressID)
        if let wait = try check(pan, of: card, call, customer) { return wait }
        try checkAddress(of: card, customer)
        customer.cards[index] = card
        return .json(card.json)
    }

    static func deleteCard(
        _ call: inout RezolveCall, _ customer: inout RezolveCustomer
    ) throws(RezolveRefusal) -> Reply {
        customer.cards.remove(at: try cardIndex(call, customer))
        return .empty()
    }

    private static func cardIndex(_ call: RezolveCall, _ customer: RezolveCustomer) throws(RezolveRefusal) -> Int {
        let id = call.parameters["id"]
        guard let index = customer.cards.firstIndex(where: { $0.id.hasSameBytes(as: id) }) else {
            let known = Nearest.known(customer.cards.lazy.map(\.id))
            throw Refusal(.cardNotFound, because: "no card of \(customer.entityID) has the id \(id)\(known)")
        }
        return index
    }

    private static func checkAddress(of card: RezolveCard, _ customer: RezolveCustomer) throws(RezolveRefusal) {
        guard customer.addresses.contains(where: { $0.id.hasSameBytes(as: card.addressID) }) else {
            let known = Nearest.known(customer.addresses.lazy.map(\.id))
            throw Refusal(
                .addressNotFound,
                because: "address_id \(card.addressID.shown) names no address of \(customer.entityID)\(known)")
        }
    }

    /// Holds the encrypted number against what the card says of it, when switch `pan-check` wants that (ours).
    ///
    /// - Returns: the reply that waits for the customer's key pair, if it has not been made.
    private static func check(
        _ pan: String?, of card: RezolveCard, _ call: RezolveCall, _ customer: RezolveCustomer
    ) throws(RezolveRefusal) -> Reply? {
        guard call.switches.panCheck == .decrypt, let pan else { return nil }
        guard let key = try keyPair(of: customer) else { return .wait(customer.keyPair.make) }
        guard let cipher = Data(base64Encoded: pan) else {
            throw wrongPAN("pan is not base64; expected the encrypted number in base64")
        }
        guard let plain = key.decryptOAEP([UInt8](cipher), hash: .sha1) else {
            throw wrongPAN("pan does not decrypt; expected RSA-OAEP with SHA-1 under the customer's key")
        }
        let number = String(decoding: plain, as: UTF8.self)
        guard (12...19).contains(plain.count), plain.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            throw wrongPAN("pan decrypts to \(plain.count) bytes; expected 12 to 19 digits")
        }
        guard number.hasPrefix(card.pan6), number.hasSuffix(card.pan4), card.pan6.count == 6, card.pan4.count == 4
        else {
            throw wrongPAN(
                "pan6 and pan4 are not those of the decrypted number; expected its first 6 and last 4 digits")
        }
        return nil
    }

    /// The staging servers' form of words is used; that they say this is ours.
    private static func wrongPAN(_ reason: String) -> RezolveRefusal {
        Refusal(
            .bodyWrongType,
            ["validation": "[Type mismatch. Expected String but got String. - #/pan]"], because: reason)
    }
}
