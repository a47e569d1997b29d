import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Minting and explaining tokens.
extension ControlAPI {
    static func listTokenKinds(_ call: ControlCall) -> Answer {
        let kinds = call.emulator.vendors.flatMap { vendor in
            vendor.tokenKinds.map { kind -> JSON in
                [
                    "vendor": .string(vendor.identity.id), "kind": .string(kind.name), "about": .string(kind.about),
                    "members": .object(JSONObject(kind.members.map { ($0.name, .string($0.about)) })),
                    "defects": .array((Defect.names + kind.defects).map(JSON.string)),
                ]
            }
        }
        return .json(["kinds": .array(kinds)])
    }

    static func mintToken(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let vendorID = call.parameters["vendor"]
        let index = try call.vendor(vendorID)
        let vendor = call.emulator.vendors[index]
        let kind = call.parameters["kind"]
        _ = try ControlProblem.place(
            of: kind, among: vendor.tokenKinds.map(\.name), "\(vendorID) has no token of kind", .notFound,
            "no-such-kind")
        let members = call.request.body.isEmpty ? [:] : try call.object()
        do {
            let minted = try call.sandbox.mint(MintRequest(kind: kind, members: members), of: index, by: call.selector)
            return .json(minted.json)
        } catch {
            throw .invalid(error.description)
        }
    }

    /// Returns what each vendor, or the named one, would answer to a token.
    static func explainToken(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("token", "vendor", "request").object
        guard let token = body["token"]?.string else { throw .invalid("token must be a string") }
        let request = body["request"] ?? [:]
        guard let context = request.object else { throw .invalid("request is \(request.text); expected an object") }
        let indices = try call.namedVendor(body).map { [$0] } ?? call.emulator.tokenVendors
        if let problem = indices.map({ call.emulator.vendors[$0] }).problem(withFacts: context) {
            throw .invalid("request: \(problem)")
        }
        let explanations = indices.map { index in
            call.sandbox.vendor(index).explain(token, knowing: context, at: call.sandbox.now)
        }
        return .json(["verdicts": .array(explanations.map(\.json))])
    }
}

/// How to mint a token like a given one: the control call and its members.
struct TokenRecipe {
    let vendor: String
    let kind: String
    let members: JSONObject

    /// The recipe for a token that the vendor would judge as it judged this one; `nil` when none is found.
    ///
    /// The signature is secret, so every defect is tried until one is refused for the same reasons.
    ///
    /// - Parameter isForeign: whether a real server took the token, whose key nobody has here: it is minted without a
    ///   defect.
    init?(
        for token: String, of vendor: any AnyLoadedVendor, in cell: any AnySandboxedVendor, at moment: Moment,
        isForeign: Bool
    ) {
        let wanted = cell.explain(token, knowing: [:], at: moment)
        guard let kind = vendor.tokenKinds.first(where: { $0.name == wanted.kind }) else { return nil }
        let read = CompactToken(token, limits: CompactToken.Limits(bytes: .max), encoding: .lenient)
        guard let claims = read.claims, var header = read.header else { return nil }
        header = JSONObject(header.filter { $0.name != "alg" }.map { ($0.name, $0.value) })
        let usual: JSONObject = ["header": .object(header), "claims": .object(claims)]
        let account = Self.account(wanted.account, for: kind)
        for defect in [nil] + Self.defects(of: kind, cell, moment, lacking: claims).map(Optional.some) {
            var members = account.reduce(into: usual) { $0[$1.name] = $1.value }
            members["defect"] = defect.map(JSON.string)
            let order = MintRequest(kind: kind.name, members: members)
            guard let minted = try? cell.mint(order, at: moment, by: .none, IdentifierSource()) else { continue }
            let verdict = cell.explain(minted.token, knowing: [:], at: moment)
            let isSame = verdict.failure == wanted.failure && Self.failed(verdict) == Self.failed(wanted)
            guard isForeign || isSame else { continue }
            self.vendor = vendor.identity.id
            self.kind = kind.name
            self.members = members
            return
        }
        return nil
    }

    private static func failed(_ verdict: TokenExplanation) -> [String] {
        verdict.findings.filter { $0.outcome == .failed }.map(\.check)
    }

    /// The account in the form of a mint request: “project a, key b” becomes the members `project` and `key`.
    private static func account(_ account: String?, for kind: TokenKind) -> JSONObject {
        let words = account?.split { $0 == " " || $0 == "," }.map(String.init) ?? []
        return JSONObject(
            zip(words, words.dropFirst()).filter { name, _ in kind.members.contains { $0.name == name } }.map {
                ($0, .string($1))
            })
    }

    /// All defects of the kind; missing-claim defects only for claims that the token lacks.
    private static func defects(
        of kind: TokenKind, _ cell: any AnySandboxedVendor, _ moment: Moment, lacking claims: JSONObject
    ) -> [String] {
        let good = try? cell.mint(MintRequest(kind: kind.name), at: moment, by: .none, IdentifierSource())
        let usual = good?.json["claims"]?.object ?? [:]
        let missing = usual.map(\.name).filter { claims[$0] == nil }.map { "missing-\($0)" }
        return missing + (Defect.names + kind.defects).filter { !$0.hasSuffix("CLAIM") }
    }
}

/// Inspecting, rotating and breaking the keys of issuers.
extension ControlAPI {
    static func listKeys(_ call: ControlCall) -> Answer {
        let vendors = call.emulator.vendors
        let issuers = vendors.enumerated().flatMap { index, vendor in
            call.sandbox.vendor(index).issuers.map { json($0, of: vendor) }
        }
        let secrets = vendors.flatMap { vendor in
            vendor.secretKeys.map { secret -> JSON in
                [
                    "vendor": .string(vendor.identity.id), "owner": .string(secret.owner),
                    "algorithm": .string(secret.algorithm.rawValue), "bytes": JSON(secret.text.utf8.count),
                ]
            }
        }
        let fetched = vendors.enumerated().flatMap { index, vendor in
            call.sandbox.vendor(index).remoteKeys.map { json($0, of: vendor) }
        }
        return .json(["issuers": .array(issuers), "fetched": .array(fetched), "secrets": .array(secrets)])
    }

    static func drillKeys(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let index = try call.vendor(call.parameters["vendor"])
        let keys = try issuer(call.parameters["issuer"], of: index, call)
        let place = try ControlProblem.place(
            of: call.parameters["drill"], among: KeyDrill.allCases.map(\.rawValue), "no drill is called", .notFound,
            "no-such-drill")
        let drill = KeyDrill.allCases[place]
        if !keys.mustWait(for: drill), let response = try perform(drill, keys.name, of: index, nil, call) {
            return .ready(response)
        }
        let pair = DeferredKeyPair(of: keys.signing.kind)
        return .deferred {
            await pair.make()
            return ControlProblem.response { () throws(ControlProblem) in
                if let response = try perform(drill, keys.name, of: index, pair, call) { return response }
                throw ControlProblem(.internalServerError, "no-key-pair", "No key pair could be made.")
            }
        }
    }

    private static func issuer(
        _ name: String, of index: Int, _ call: ControlCall
    ) throws(ControlProblem) -> IssuerKeys {
        let vendor = call.emulator.vendors[index]
        let issuers = call.sandbox.vendor(index).issuers
        if let keys = issuers.first(where: { $0.name == name }) { return keys }
        let id = vendor.identity.id
        let what =
            issuers.isEmpty
            ? "\(id) has no issuer that publishes keys\(vendor.secretKeys.isEmpty ? "" : "; it shares secrets with those who sign")"
            : "\(id) has no issuer \(name)\(Nearest.hint(to: name, among: issuers.map(\.name)))"
        throw ControlProblem(.notFound, "no-such-issuer", what)
    }

    /// Performs a drill; `nil` when it needs a key pair.
    private static func perform(
        _ drill: KeyDrill, _ issuer: String, of index: Int, _ pair: DeferredKeyPair?, _ call: ControlCall
    ) throws(ControlProblem) -> Response? {
        switch call.sandbox.vendor(index).perform(drill, at: issuer, with: pair, in: call.sandbox) {
        case .done(let keys): return .json(json(keys, of: call.emulator.vendors[index]))
        case .needsPair: return nil
        case .unknownIssuer: throw ControlProblem(.notFound, "no-such-issuer", "The issuer \(issuer) no longer exists.")
        }
    }

    private static func json(_ keys: RemoteKeys, of vendor: any AnyLoadedVendor) -> JSON {
        [
            "vendor": .string(vendor.identity.id), "issuer": .string(keys.issuer), "url": .string(keys.url),
            "kids": .array(keys.keys.map { JSON($0.id) }), "fetches": JSON(keys.fetchCount),
            "fetched_at": keys.fetchedAt.map { JSON($0.wholeSeconds) } ?? .null,
            "expires_at": keys.expiresAt.map { JSON($0.wholeSeconds) } ?? .null,
            "problem": JSON(keys.lastReport?.problem?.description),
        ]
    }

    private static func json(_ keys: IssuerKeys, of vendor: any AnyLoadedVendor) -> JSON {
        let published = keys.published.map { entry -> JSON in
            [
                "kid": JSON(entry.key.id), "role": .string(entry.role.rawValue),
                "jwk": entry.key.publicJWK(algorithm: keys.algorithm) ?? .null,
            ]
        }
        return [
            "vendor": .string(vendor.identity.id), "issuer": .string(keys.name),
            "algorithm": .string(keys.algorithm.rawValue), "broken": .bool(keys.isBroken),
            "fetches": JSON(keys.fetchCount), "keys": .array(published),
        ]
    }
}

/// Explaining calls that went to real servers.
extension ControlAPI {
    /// Returns why a real server refused the recorded calls, by the settings of the sandbox.
    static func explainCall(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("recording", "answer", "vendor", "at").object
        guard let recording = body["recording"]?.string else { throw .invalid("recording must be a string") }
        let sandbox = call.existingSandbox ?? call.emulator.sandboxes.standard
        var explainer = Explainer(call.emulator, sandbox.settings)
        explainer.vendor = try call.namedVendor(body)
        let moment = body["at"].map { Moment($0) } ?? sandbox.now
        guard let moment else { throw .invalid("at is \(body["at"]?.text ?? ""); expected Unix seconds or RFC 3339") }
        let answer = try body["answer"].map { value throws(ControlProblem) in
            guard let status = value["status"]?.int, (100...599).contains(status) else {
                throw .invalid("answer is \(value.text); expected an object with a status from 100 to 599")
            }
            return RecordedCall.Answer(status: status, body: value["body"]?.string.map { Array($0.utf8) })
        }
        return .deferred { [explainer] in
            var explanations: [JSON] = []
            do throws(RecordingProblem) {
                for var recorded in try explainer.refused(of: RecordedCall.all(in: Array(recording.utf8))) {
                    recorded.answer = answer ?? recorded.answer
                    explanations.append(try await explainer.explain(recorded, at: moment))
                }
            } catch {
                return ControlProblem.invalid("the recording: \(error.description)").response
            }
            return .json(["calls": .array(explanations)])
        }
    }
}
