import Emulation
import JSON

/// What is wrong with a request's members and parameters, in the order of reading.
///
/// Source: the shape of the answer is observed, Android SDK; the texts are ours.
struct ComapiFaults: Sendable {
    private var missing: [String] = []
    private var entries: [JSON] = []
    private var reasons: [String] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Something required is absent, null or empty; the reason says which.
    mutating func missing(_ name: String, found value: JSON? = nil) {
        missing.append(name)
        let reason: String
        switch value {
        case nil: reason = "was not sent; expected it"
        case .null?: reason = "is null; expected a value"
        case let value?: reason = "is an empty \(value.typeName); expected a value"
        }
        add(name, "is required", reason)
    }

    /// Something has the wrong type, range or form.
    mutating func invalid(_ name: String, _ reason: String) { add(name, "is not valid", reason) }

    private mutating func add(_ name: String, _ message: String, _ reason: String) {
        // A long list of broken elements needs no answer of its length. ours.
        guard entries.count < 100 else { return }
        entries.append(["paramName": .string(name), "message": .string(message)])
        reasons.append("\(name) \(reason)")
    }

    /// Refuses when something was wrong: `missing-field` if anything is missing, else `invalid-parameter` (ours).
    func check() throws(ComapiRefusal) {
        if let refusal { throw refusal }
    }

    /// The refusal that the faults lead to; `nil` without any.
    var refusal: ComapiRefusal? {
        guard !entries.isEmpty else { return nil }
        return Refusal(
            missing.isEmpty ? .invalidParameter : .missingField, ["faults": .array(entries)],
            because: reasons.joined(separator: "; "))
    }

    /// The refusal of one wrong thing.
    static func invalid(_ name: String, because reason: String) -> ComapiRefusal {
        var faults = ComapiFaults()
        faults.invalid(name, reason)
        return faults.refusal ?? Refusal(.invalidParameter)
    }

    /// The refusal of one missing thing.
    static func missing(_ name: String) -> ComapiRefusal {
        var faults = ComapiFaults()
        faults.missing(name)
        return faults.refusal ?? Refusal(.missingField)
    }
}

/// The members of a JSON object in a request, with the path by which faults name them.
struct ComapiMembers: Sendable {
    let object: JSONObject
    private let path: String

    init(_ object: JSONObject, at path: String = "") {
        self.object = object
        self.path = path
    }

    func name(_ member: String) -> String { path.isEmpty ? member : "\(path).\(member)" }

    /// A member's value; `null` counts as absent.
    subscript(member: String) -> JSON? {
        guard let value = object[member], !value.isNull else { return nil }
        return value
    }

    /// A text, which must not be empty when it is required.
    func text(_ member: String, isRequired: Bool = false, _ faults: inout ComapiFaults) -> String? {
        guard let value = self[member] else {
            if isRequired { faults.missing(name(member), found: object[member]) }
            return nil
        }
        guard let text = value.string else {
            faults.invalid(name(member), "is a JSON \(value.typeName), not a string")
            return nil
        }
        guard !isRequired || !text.utf8.isEmpty else {
            faults.missing(name(member), found: value)
            return nil
        }
        return text
    }

    /// A boolean.
    func bool(_ member: String, _ faults: inout ComapiFaults) -> Bool? {
        guard let value = self[member] else { return nil }
        if value.bool == nil { faults.invalid(name(member), "is a JSON \(value.typeName), not a boolean") }
        return value.bool
    }

    /// An object.
    func object(_ member: String, _ faults: inout ComapiFaults) -> ComapiMembers? {
        guard let value = self[member] else { return nil }
        guard let object = value.object else {
            faults.invalid(name(member), "is a JSON \(value.typeName), not an object")
            return nil
        }
        return ComapiMembers(object, at: name(member))
    }

    /// An array of objects.
    func objects(_ member: String, isRequired: Bool = false, _ faults: inout ComapiFaults) -> [ComapiMembers]? {
        guard let value = self[member] else {
            if isRequired { faults.missing(name(member), found: object[member]) }
            return nil
        }
        guard let elements = value.array else {
            faults.invalid(name(member), "is a JSON \(value.typeName), not an array")
            return nil
        }
        if isRequired, elements.isEmpty { faults.missing(name(member), found: value) }
        return Self.objects(elements, at: name(member), &faults)
    }

    /// The objects of an array; elements of other types are faults.
    static func objects(_ elements: [JSON], at path: String, _ faults: inout ComapiFaults) -> [ComapiMembers] {
        var objects: [ComapiMembers] = []
        for (index, element) in elements.enumerated() {
            if let object = element.object {
                objects.append(ComapiMembers(object, at: "\(path)[\(index)]"))
            } else {
                faults.invalid("\(path)[\(index)]", "is a JSON \(element.typeName), not an object")
            }
        }
        return objects
    }
}
