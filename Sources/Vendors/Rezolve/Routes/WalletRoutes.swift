import Emulation
import JSON
import Tokens

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A customer's payment card; its number is never stored.
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
    /// As given, usually `MMYY`; `nil` if null was sent.
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

extension RezolveCard: RezolveEntry {
    static let noun = "card"
    static let unknown = RezolveFailure.cardNotFound
    static var book: WritableKeyPath<RezolveCustomer, [RezolveCard]> { \.cards }

    var texts: [String] { [type, brand, pan6, pan4, shortName, nameOnCard, validFrom ?? "", expiresOn, addressID] }

    private static let members = [
        "short_name", "pan", "pan6", "pan4", "brand", "type", "name_on_card", "expires_on", "address_id", "valid_from",
    ]
    /// Required in a change; other members stay as they are unless sent.
    private static let lasting = ["short_name", "name_on_card", "address_id"]

    init(_ body: inout FieldReader, isNew: Bool, over old: RezolveCard?, _ switches: RezolveSwitches) {
        let needed = isNew ? Self.members : Self.lasting
        var texts: [String: String] = [:]
        for name in needed + Self.members.filter({ !needed.contains($0) }) {
            texts[name] = body.optionalText(name, isRequired: needed.contains(name), acceptsNull: name == "valid_from")
        }
        self.init(
            id: "", type: texts["type"] ?? old?.type ?? "", brand: texts["brand"] ?? old?.brand ?? "",
            pan6: texts["pan6"] ?? old?.pan6 ?? "", pan4: texts["pan4"] ?? old?.pan4 ?? "",
            shortName: texts["short_name"] ?? "", nameOnCard: texts["name_on_card"] ?? "",
            validFrom: body.object["valid_from"] == nil ? old?.validFrom : texts["valid_from"],
            expiresOn: texts["expires_on"] ?? old?.expiresOn ?? "", addressID: texts["address_id"] ?? "")
    }

    func check(_ body: JSONObject, _ call: RezolveCall, _ customer: RezolveCustomer) throws(RezolveRefusal) -> Reply? {
        if let wait = try check(pan: body["pan"]?.string, call, customer) { return wait }
        try customer.place(of: RezolveAddress.self, addressID, namedBy: "address_id")
        return nil
    }

    /// Compares the encrypted number with the card's other members, if switch `pan-check` wants that (ours).
    ///
    /// - Returns: the reply that waits for the customer's key pair, if it has not been made.
    private func check(
        pan: String?, _ call: RezolveCall, _ customer: RezolveCustomer
    ) throws(RezolveRefusal) -> Reply? {
        guard call.switches.panCheck == .decrypt, let pan else { return nil }
        guard let key = try Rezolve.keyPair(of: customer) else { return .wait(customer.keyPair.make) }
        guard let cipher = Data(base64Encoded: pan) else {
            throw Self.wrongPAN("pan is not base64; expected the encrypted number in base64")
        }
        guard let plain = key.decryptOAEP([UInt8](cipher), hash: .sha1) else {
            throw Self.wrongPAN("pan does not decrypt; expected RSA-OAEP with SHA-1 under the customer's key")
        }
        let number = String(decoding: plain, as: UTF8.self)
        guard (12...19).contains(plain.count), plain.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            throw Self.wrongPAN("pan decrypts to \(plain.count) bytes; expected 12 to 19 digits")
        }
        guard number.hasPrefix(pan6), number.hasSuffix(pan4), pan6.count == 6, pan4.count == 4 else {
            throw Self.wrongPAN(
                "pan6 and pan4 are not those of the decrypted number; expected its first 6 and last 4 digits")
        }
        return nil
    }

    /// The wording is the staging servers'; using it for this case is ours.
    private static func wrongPAN(_ reason: String) -> RezolveRefusal {
        Refusal(
            .bodyWrongType,
            ["validation": "[Type mismatch. Expected String but got String. - #/pan]"], because: reason)
    }
}
