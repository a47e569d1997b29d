import Emulation
import JSON
import Tokens

extension Call<Rezolve> {
    /// The request's body, which must be a JSON object (row 11).
    func bodyObject() throws(RezolveRefusal) -> JSONObject {
        let value: JSON
        if request.body.isEmpty { throw Refusal(.bodyMalformed, because: "the body is empty, not a JSON object") }
        do {
            value = try JSON.parse(request.body)
        } catch {
            throw Refusal(.bodyMalformed, because: "the body is not JSON: \(error); expected a JSON object")
        }
        guard let object = value.object else {
            throw Refusal(.bodyMalformed, because: "the body is a JSON \(value.typeName), not an object")
        }
        return object
    }

    /// Refuses a body with wrong members (row 12): absent ones first, then wrong types, then short texts.
    func refuse(_ problems: [FieldProblem]) throws(RezolveRefusal) {
        guard !problems.isEmpty else { return }
        let missing = problems.filter { $0.kind == .missing }.map(\.name)
        let failure: RezolveFailure =
            if !missing.isEmpty { .bodyMissingFields } else if problems.contains(where: \.isWrongType) {
                .bodyWrongType
            } else { .bodyTooShort }
        let validation = StagingValidation(problems).text
        throw Refusal(
            failure, ["missing": .string(missing.joined(separator: ", ")), "validation": .string(validation)],
            because: problems.reason)
    }
}

extension FieldProblem {
    fileprivate var isWrongType: Bool {
        if case .wrongType = kind { true } else { false }
    }
}

/// The list of complaints in the words of the staging servers. Source: observed, qa.
private struct StagingValidation {
    let text: String

    init(_ problems: [FieldProblem]) {
        var items: [String] = []
        let missing = problems.filter { $0.kind == .missing }.map(\.name)
        if !missing.isEmpty {
            let noun = missing.count == 1 ? "property" : "properties"
            let verb = missing.count == 1 ? "was" : "were"
            items.append("Required \(noun) \(missing.joined(separator: ", ")) \(verb) not present. - #")
        }
        for problem in problems.sorted(by: { $0.name < $1.name }) {
            switch problem.kind {
            case .missing: break
            case .wrongType(let expected, let found):
                items.append(
                    "Type mismatch. Expected \(expected.capitalized) but got \(found.capitalized). - #/\(problem.name)")
            case .tooShort(let minimum, let length):
                items.append(
                    "Expected value to have a minimum length of \(minimum) but was \(length). - #/\(problem.name)")
            }
        }
        text = "[\(items.joined(separator: ", "))]"
    }
}

extension String {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}

extension Rezolve {
    /// A handler of one customer's own things.
    typealias CustomerHandler =
        @Sendable (inout RezolveCall, inout RezolveCustomer) throws(RezolveRefusal) -> Reply

    /// A route's handler that finds the customer, lets `handler` work on a copy, and keeps what came of it unless the
    /// handler threw.
    static func forCustomer(_ handler: @escaping CustomerHandler) -> Route<Rezolve>.Handler {
        { (call, state) throws(RezolveRefusal) in
            var customer = try owner(of: call, in: state)
            let reply = try handler(&call, &customer)
            state.store(customer)
            return reply
        }
    }

    /// The customer of the path, whom authorization has found to be the token's own; a new one where it is adopted.
    private static func owner(of call: RezolveCall, in state: RezolveState) throws(RezolveRefusal) -> RezolveCustomer {
        if let customer = state.customers[call.parameters["entity"]] { return customer }
        guard let partner = call.credentials.partner, let token = call.credentials.token else {
            throw Refusal(.maskedOtherUser, because: "nobody was authorized; expected the token of a customer")
        }
        if let other = state.customer(partner: partner.id, partnerEntityID: token.partnerEntityID) {
            throw Refusal(
                .maskedOtherUser,
                because:
                    "partner_entity_id \(token.partnerEntityID) belongs to \(other.entityID), not to \(token.entityID)")
        }
        return RezolveCustomer(
            entityID: token.entityID, partnerID: partner.id, partnerEntityID: token.partnerEntityID,
            created: call.moment)
    }
}
