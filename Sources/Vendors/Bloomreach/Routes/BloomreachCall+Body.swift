import Emulation
import JSON
import Tokens

extension Call<Bloomreach> {
    /// The request's body, which must be a JSON object (step 9).
    func bodyObject() throws(BloomreachRefusal) -> JSONObject {
        let value: JSON
        if request.body.isEmpty { throw Refusal(.badRequestBody, because: "the body is empty, not a JSON object") }
        do {
            value = try JSON.parse(request.body)
        } catch {
            throw Refusal(.badRequestBody, because: "the body is not JSON: \(error); expected a JSON object")
        }
        guard let object = value.object else {
            throw Refusal(.badRequestBody, because: "the body is a JSON \(value.typeName), not an object")
        }
        return object
    }

    /// The project whose data the call works on; authentication refuses a call without one.
    func project() throws(BloomreachRefusal) -> BloomreachProject {
        guard let project = credentials.project else { throw Refusal(.unknownProject) }
        return project
    }

    /// The ids by which a body names its customer, nulls and empty texts left out (step 10).
    ///
    /// - Parameter isRequired: whether somebody must be named, unless a token does so.
    /// - Throws: ``BloomreachFailure/invalidField``, ``BloomreachFailure/unknownIDName`` with switch `unknown-ids`, and
    ///   ``BloomreachFailure/noCustomerIDs``.
    func customerIDs(of body: JSONObject, isRequired: Bool = true) throws(BloomreachRefusal) -> BloomreachIDs {
        var ids = BloomreachIDs()
        if let value = body["customer_ids"], !value.isNull { ids = try self.ids(value, of: "customer_ids") }
        if ids.isEmpty, isRequired, credentials.token == nil {
            let found = body["customer_ids"].map { "customer_ids is \($0.text.prefix(100)), which names nobody" }
            throw Refusal(
                .noCustomerIDs,
                because: "\(found ?? "there is no customer_ids"); expected at least one id with its value")
        }
        return ids
    }

    /// Reads a map of ids.
    func ids(_ value: JSON, of field: String) throws(BloomreachRefusal) -> BloomreachIDs {
        let ids: BloomreachIDs
        do {
            ids = try BloomreachIDs(value)
        } catch {
            throw .invalidField(field, because: "\(field): \(error)")
        }
        if switches.unknownIDs == .reject {
            let project = try project()
            if let name = ids.names.first(where: { !project.definesID($0) }) {
                let known = Nearest.known([BloomreachID.cookie, BloomreachID.registered] + project.idNames)
                throw Refusal(
                    .unknownIDName, ["field": .string(field)],
                    because: "\(project.token) defines no id \(name.shown)\(known)")
            }
        }
        return ids
    }
}

extension Refusal<BloomreachFailure> {
    /// A member that is needed is not there, or null; what would be right stands with its article.
    static func missingField(
        _ name: String, in body: JSONObject? = nil, expected: String
    ) -> BloomreachRefusal {
        let found = body?[name]?.isNull == true ? "\(name) is null" : "there is no \(name)"
        return Refusal(.missingField, ["field": .string(name)], because: "\(found); expected \(expected)")
    }

    /// A member is wrong.
    static func invalidField(_ name: String, because reason: String) -> BloomreachRefusal {
        Refusal(.invalidField, ["field": .string(name)], because: reason)
    }
}

extension JSONObject {
    /// A member that is there and not null.
    func present(_ name: String) -> JSON? {
        // No closure with nil in it: that would be a null.
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }

    /// A text; `nil` when it is absent or null.
    func text(_ name: String) throws(BloomreachRefusal) -> String? {
        guard let value = present(name) else { return nil }
        guard let text = value.string else { throw Self.wrong(name, "a string", value) }
        return text
    }

    /// A text that must be there.
    func requiredText(_ name: String) throws(BloomreachRefusal) -> String {
        guard let text = try text(name) else { throw .missingField(name, in: self, expected: "a string") }
        return text
    }

    /// An object; empty when it is absent or null.
    func object(_ name: String) throws(BloomreachRefusal) -> JSONObject {
        guard let value = present(name) else { return [:] }
        guard let object = value.object else { throw Self.wrong(name, "an object", value) }
        return object
    }

    /// An array that must be there.
    func requiredArray(_ name: String) throws(BloomreachRefusal) -> [JSON] {
        guard let value = present(name) else { throw .missingField(name, in: self, expected: "an array") }
        guard let array = value.array else { throw Self.wrong(name, "an array", value) }
        return array
    }

    /// An array of texts that must be there.
    func requiredTexts(_ name: String) throws(BloomreachRefusal) -> [String] {
        let array = try requiredArray(name)
        let texts = array.compactMap(\.string)
        if let place = array.firstIndex(where: { $0.string == nil }) {
            throw .invalidField(name, because: "\(name)[\(place)] is a JSON \(array[place].typeName), not a string")
        }
        return texts
    }

    /// A truth; `nil` when it is absent or null.
    func bool(_ name: String) throws(BloomreachRefusal) -> Bool? {
        guard let value = present(name) else { return nil }
        guard let bool = value.bool else { throw Self.wrong(name, "a boolean", value) }
        return bool
    }

    /// A whole number that is not negative; `nil` when it is absent or null.
    func count(_ name: String) throws(BloomreachRefusal) -> Int? {
        guard let value = present(name) else { return nil }
        guard let int = value.int, int >= 0 else { throw Self.wrong(name, "a whole number from 0", value) }
        return int
    }

    /// A moment in seconds: a number, a date and time as text, or, when it is absent or null, that of the clock.
    ///
    /// Source: that a text in ISO 8601 is taken is documented (reference page on adding events).
    func timestamp(at moment: Moment) throws(BloomreachRefusal) -> Double {
        guard let value = present("timestamp") else { return moment.unixSeconds }
        if value.number != nil, let moment = Moment(value) { return moment.unixSeconds }
        if let text = value.string, let moment = Moment(bloomreach: text) { return moment.unixSeconds }
        if let remark = NumericDate(value).millisecondsRemark(on: "timestamp") {
            throw .invalidField(
                "timestamp", because: "timestamp is \(value.text.prefix(100)); expected seconds. \(remark)")
        }
        throw Self.wrong("timestamp", "a number of seconds or date and time such as 2027-01-15T08:00:00Z", value)
    }

    private static func wrong(_ name: String, _ expected: String, _ value: JSON) -> BloomreachRefusal {
        let found = value.text.prefix(100)
        return .invalidField(name, because: "\(name) is \(found), not \(expected)")
    }
}
