import Emulation
import JSON

/// Reads the members of a JSON object that a client sent, and refuses the first wrong one by its path.
struct IMSBody {
    /// ours: a bound of texts that a sandbox keeps, in Unicode scalars.
    static let longestText = 255

    let object: JSONObject
    private let path: String

    /// A reader of an object that stands at that path of the content, such as `points.0`; empty for the content itself.
    init(_ object: JSONObject, at path: String = "") {
        self.object = object
        self.path = path.isEmpty ? "" : path + "."
    }

    /// The refusal for a member, and what is wrong with it.
    func refusal(_ name: String, _ why: String) -> IMSRefusal {
        Refusal(.bodyInvalid, ["field": .string(path + name)], because: "\(path)\(name) \(why)")
    }

    /// The refusal for a member that must be there.
    func missing(_ name: String) -> IMSRefusal { refusal(name, "was not sent; expected it") }

    /// A value for people, cut where it becomes long.
    private static func shown(_ value: JSON) -> String {
        let text = value.string.map { $0.isEmpty ? "an empty text" : "“\($0)”" } ?? value.text
        return text.count > 60 ? text.prefix(60) + "…" : text
    }

    /// Refuses members of other names.
    func refuseUnknown(_ known: [String]) throws(IMSRefusal) {
        guard let member = object.first(where: { member in !known.contains { $0.hasSameBytes(as: member.name) } })
        else { return }
        throw refusal(member.name, "is unknown\(Nearest.hint(to: member.name, among: known))")
    }

    /// A text; `nil` when there is no such member.
    func text(_ name: String, atLeast minimum: Int = 0, atMost maximum: Int = longestText) throws(IMSRefusal) -> String?
    {
        guard let value = object[name] else { return nil }
        guard let text = value.string else { throw refusal(name, "is a JSON \(value.typeName), not a string") }
        let bytes = text.utf8.count
        // A text has never more scalars than bytes, so most need not be counted.
        guard bytes >= minimum else { throw refusal(name, "is an empty text; expected at least \(minimum) character") }
        guard bytes <= maximum || text.unicodeScalars.count <= maximum else {
            throw refusal(name, "has \(text.unicodeScalars.count) characters; expected at most \(maximum)")
        }
        return text
    }

    /// A text that must be there and not be empty.
    func requiredText(_ name: String, atMost maximum: Int = longestText) throws(IMSRefusal) -> String {
        guard let text = try text(name, atLeast: 1, atMost: maximum) else { throw missing(name) }
        return text
    }

    /// A text of 1 to 40 small letters, digits and hyphens, which must be there.
    func requiredName(_ name: String) throws(IMSRefusal) -> String {
        let text = try requiredText(name)
        guard text.utf8.count <= 40, text.utf8.allSatisfy(Self.isNameByte) else {
            throw refusal(
                name, "is not made of 1 to 40 of a-z, 0-9 and -; expected that, found \(Self.shown(.string(text)))")
        }
        return text
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// An email address: anything with an `@` (ours).
    func email(_ name: String) throws(IMSRefusal) -> String? {
        guard let text = try text(name), !text.isEmpty else { return nil }
        guard text.utf8.contains(UInt8(ascii: "@")) else {
            throw refusal(name, "is \(Self.shown(.string(text))); expected an address with @")
        }
        return text
    }

    /// One of the values of a type; `nil` when there is no such member.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Choice.Type
    ) throws(IMSRefusal) -> Choice? {
        guard let text = try text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw refusal(
                name,
                "is none of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")); expected one of them, found \(Self.shown(.string(text)))"
            )
        }
        return choice
    }

    /// A boolean; `nil` when there is no such member.
    func bool(_ name: String) throws(IMSRefusal) -> Bool? {
        guard let value = object[name] else { return nil }
        guard let bool = value.bool else {
            throw refusal(name, "is \(Self.shown(value)), a JSON \(value.typeName); expected true or false")
        }
        return bool
    }

    /// A whole number in a range; `nil` when there is no such member.
    func int(_ name: String, in range: ClosedRange<Int>) throws(IMSRefusal) -> Int? {
        guard let value = object[name] else { return nil }
        guard let int = value.int, range.contains(int) else {
            throw refusal(
                name,
                "is \(Self.shown(value)); expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return int
    }

    /// A number in a range, which must be there; as it was written.
    func requiredNumber(_ name: String, in range: ClosedRange<Double>) throws(IMSRefusal) -> JSONNumber {
        guard let value = object[name] else { throw missing(name) }
        guard let number = value.number, number.double.isFinite, range.contains(number.double) else {
            throw refusal(
                name,
                "is \(Self.shown(value)); expected a number from \(JSONNumber(range.lowerBound)) to "
                    + "\(JSONNumber(range.upperBound))")
        }
        return number
    }

    /// An object that must be there.
    func requiredObject(_ name: String) throws(IMSRefusal) -> JSONObject {
        guard let value = object[name] else { throw missing(name) }
        guard let object = value.object else { throw refusal(name, "is a JSON \(value.typeName), not an object") }
        return object
    }

    /// An array; empty when there is no such member.
    func array(_ name: String) throws(IMSRefusal) -> [JSON] {
        guard let value = object[name] else { return [] }
        guard let array = value.array else { throw refusal(name, "is a JSON \(value.typeName), not an array") }
        return array
    }

    /// A moment in the text form of RFC 3339, which must be there, and its Unix seconds.
    func requiredTime(_ name: String) throws(IMSRefusal) -> IMSTime {
        if let value = object[name], value.number != nil { throw refusal(name, IMSTime.refusal(of: value)) }
        let text = try requiredText(name)
        guard let time = IMSTime(text) else { throw refusal(name, IMSTime.refusal(of: .string(text))) }
        return time
    }
}

extension Call<IMS> {
    /// The request's content, which must be a JSON object.
    func body() throws(IMSRefusal) -> IMSBody {
        let value: JSON
        do {
            value = try JSON.parse(request.body)
        } catch {
            throw Refusal(.bodyMalformed, because: "the content is not JSON: \(error); expected an object")
        }
        guard let object = value.object else {
            throw Refusal(.bodyMalformed, because: "the content is a JSON \(value.typeName), not an object")
        }
        return IMSBody(object)
    }

    /// The value of that name in the query; the first one counts.
    func query(_ name: String) -> String? { request.queryItems.first { $0.name == name }?.value }

    /// The refusal for a value of the query.
    func refusal(ofQuery name: String, _ why: String) -> IMSRefusal {
        Refusal(.bodyInvalid, ["field": .string(name)], because: "\(name) in the query \(why)")
    }
}
