import Dispatch
package import JSON
import Synchronization
public import Tokens

/// A private key in a file of the fixtures. One that tests have judged is parsed on first use.
package final class KeyFile: Sendable {
    private let path: String
    private let text: [UInt8]
    /// The `kid`; `nil` where the fixtures name none.
    private let id: String?
    private let takesThumbprint: Bool
    private let key = Mutex<SigningKey?>(nil)

    /// Reads which `file` holds a key, and perhaps its `kid`.
    ///
    /// - Parameters:
    ///   - takesThumbprint: whether a key without a `kid` gets its thumbprint (RFC 7638) as one.
    ///   - isRSA: whether it is for RS256, which no other kind of key can sign.
    package convenience init(
        _ node: FixtureNode, _ fixtures: VendorFixtures, takesThumbprint: Bool = true, isRSA: Bool = false
    ) throws(FixtureProblem) {
        try self.init(try node.mapping("file", "kid"), fixtures, takesThumbprint: takesThumbprint, isRSA: isRSA)
    }

    /// The same from members that occur among others.
    package convenience init(
        _ entry: FixtureMapping, _ fixtures: VendorFixtures, takesThumbprint: Bool = true, isRSA: Bool = false
    ) throws(FixtureProblem) {
        let file = try fixtures.file(named: try entry.required("file"))
        try self.init(file, id: try entry["kid"]?.string(), takesThumbprint: takesThumbprint, isRSA: isRSA)
    }

    fileprivate init(
        _ file: FixtureStore.File, id: String?, takesThumbprint: Bool, isRSA: Bool
    ) throws(FixtureProblem) {
        (path, text, self.id, self.takesThumbprint) = (file.path, file.bytes, id, takesThumbprint)
        if file.isJudged { return }
        let read: SigningKey
        do throws(KeyError) { read = try parsed() } catch { throw FixtureProblem(file: path, message: error.inPEM) }
        if isRSA, !read.kind.algorithms.contains(.rs256) {
            throw FixtureProblem(file: path, message: "found an \(read.kind); expected an RSA key, as RS256 needs")
        }
    }

    fileprivate func parsed() throws(KeyError) -> SigningKey {
        if let known = key.withLock({ $0 }) { return known }
        var read = try SigningKey.pem(String(decoding: text, as: UTF8.self), id: id)
        if id == nil, takesThumbprint { read.id = read.thumbprint }
        key.withLock { $0 = read }
        return read
    }

    /// - Throws: which file holds no key.
    package func read() throws(ControlRefusal) -> SigningKey {
        do throws(KeyError) { return try parsed() } catch { throw ControlRefusal("\(path): \(error.inPEM)") }
    }
}

/// The keys of an issuer for which this server signs, in files of the fixtures.
///
/// They are parsed on first use: hardly any sandbox needs them, so starting must not pay for it.
package final class IssuerKeyFiles: Sendable {
    package let name: String
    /// The `Cache-Control` field of the published keys, if the fixtures set it.
    package let cacheControl: String?
    private let key: KeyFile
    private let next: KeyFile?
    private let spares: [KeyFile]
    private let naming: IssuerKeys.Naming
    private let keys = Mutex<IssuerKeys?>(nil)

    /// Reads which files an issuer has: `key`, perhaps `next`, `spares` and `cache_control`.
    ///
    /// - Parameter naming: how drills name further keys.
    package init(
        name: String, _ entry: FixtureMapping, _ fixtures: VendorFixtures, naming: IssuerKeys.Naming = .random
    ) throws(FixtureProblem) {
        let takesThumbprint = naming == .thumbprint
        func file(_ node: FixtureNode) throws(FixtureProblem) -> KeyFile {
            try KeyFile(node, fixtures, takesThumbprint: takesThumbprint, isRSA: true)
        }
        var spares: [KeyFile] = []
        try entry["spares"]?.forEachRecord { (node) throws(FixtureProblem) in spares.append(try file(node)) }
        (self.name, self.naming, self.spares) = (name, naming, spares)
        key = try file(try entry.required("key"))
        next = try entry["next"].map { (node) throws(FixtureProblem) in try file(node) }
        cacheControl = try entry["cache_control"]?.string()
    }

    /// - Throws: which file holds no key.
    package func initialKeys() throws(ControlRefusal) -> IssuerKeys {
        if let known = keys.withLock({ $0 }) { return known }
        let spares = try spares.map { file throws(ControlRefusal) in try file.read() }
        let next = try next.map { file throws(ControlRefusal) in try file.read() }
        let read = IssuerKeys(
            name: name, algorithm: .rs256, signing: try key.read(), next: next, spares: spares, naming: naming)
        keys.withLock { $0 = read }
        return read
    }
}

extension [UInt8] {
    /// Whether the text has a PEM line that mentions a private key.
    package var holdsPrivateKey: Bool { self[...].place(of: Array("PRIVATE KEY-----".utf8)) != nil }
}

extension SecretKey {
    /// Takes the text that a file of the fixtures has.
    ///
    /// - Parameter noun: what such a secret is called.
    package convenience init(
        _ text: String, of owner: String, for algorithm: Algorithm, called noun: String = "secret", at node: FixtureNode
    ) throws(FixtureProblem) {
        do throws(KeyError) { try self.init(text, of: owner, for: algorithm) } catch {
            throw node.problem("the \(noun) cannot be used: \(error)")
        }
    }
}

/// A key pair that is generated when it is first needed.
///
/// A 2048-bit RSA pair costs about 0.2 s of a core. One background queue generates them in turn, so that they hold up
/// neither a request's event loop nor the whole machine.
public final class DeferredKeyPair: Sendable {
    private enum Stage {
        case unmade
        case unread(KeyFile)
        case inMaking
        case made(Result<SigningKey, KeyError>)
    }

    private static let workshop = DispatchQueue(label: "understudy.key-pairs", qos: .utility)
    private let stage: Mutex<Stage>
    private let gate = Gate()
    private let kind: KeyKind

    package init(of kind: KeyKind = .rsa(bits: 2048)) {
        self.kind = kind
        stage = Mutex(.unmade)
    }

    package init(_ key: SigningKey) {
        kind = key.kind
        stage = Mutex(.made(.success(key)))
    }

    /// The pair in a file that the node names, in PEM; one that tests have judged is read when it is first needed.
    package init(file node: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) {
        let file = try fixtures.file(named: node)
        kind = .rsa(bits: 2048)
        stage = Mutex(.unread(try KeyFile(file, id: nil, takesThumbprint: false, isRSA: false)))
    }

    package var isGiven: Bool {
        stage.withLock { stage in
            switch stage {
            case .unmade, .inMaking, .made(.failure): false
            case .unread, .made(.success): true
            }
        }
    }

    /// The pair, or `nil` until it is generated. Throws why the library could not generate it.
    package func key() throws(KeyError) -> SigningKey? {
        let result = stage.withLock { stage -> Result<SigningKey, KeyError>? in
            if case .unread(let file) = stage { stage = .made(Result(catching: file.parsed)) }
            return if case .made(let result) = stage { result } else { nil }
        }
        return try result?.get()
    }

    /// The pair, or `nil` until it is generated or when that failed.
    public var made: SigningKey? {
        // Callers that need the pair report why there is none.
        (try? key()) ?? nil
    }

    /// Returns once the pair exists; concurrent callers share one generation.
    package func make() async {
        let (isMade, isFirst) = stage.withLock { stage in
            switch stage {
            case .made, .unread: return (true, false)
            case .inMaking: return (false, false)
            case .unmade:
                stage = .inMaking
                return (false, true)
            }
        }
        if isMade { return }
        if isFirst { Self.workshop.async { self.work() } }
        await gate.passage()
    }

    private func work() {
        let result = Result(catching: generate)
        stage.withLock { $0 = .made(result) }
        gate.open()
    }

    private func generate() throws(KeyError) -> SigningKey {
        switch kind {
        case .rsa(let bits): try SigningKey.generateRSA(bits: bits)
        case .ec(let curve): try SigningKey.generateEC(curve)
        case .ed25519: try SigningKey.generateEd25519()
        case .secret: throw .unsupportedType("secret, which has no pair")
        }
    }
}

/// A pair that is made has its private key in PEM.
extension DeferredKeyPair: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> DeferredKeyPair {
        let text = try node.string()
        do throws(KeyError) { return DeferredKeyPair(try SigningKey.pem(text)) } catch {
            throw node.problem(error.inPEM)
        }
    }

    package var written: JSON { JSON(made?.privatePEM) }
}

/// A one-time event that tasks can await without blocking a thread.
final class Gate: Sendable {
    private enum Stage {
        case closed([CheckedContinuation<Void, Never>])
        case open
    }

    private let stage = Mutex(Stage.closed([]))

    func passage() async {
        await withCheckedContinuation { continuation in
            let isOpen = stage.withLock { stage in
                guard case .closed(let waiting) = stage else { return true }
                stage = .closed(waiting + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = stage.withLock { stage -> [CheckedContinuation<Void, Never>] in
            defer { stage = .open }
            if case .closed(let waiting) = stage { return waiting }
            return []
        }
        for continuation in waiting { continuation.resume() }
    }
}

public enum KeyDrill: String, Sendable, CaseIterable {
    case overlap
    case retire
    case replace
    case sameKID = "same-kid"
    case `break`
    case repair

    package var needsPair: Bool {
        switch self {
        case .overlap, .replace, .sameKID: true
        case .retire, .break, .repair: false
        }
    }

    package var about: String {
        switch self {
        case .overlap: "Another key signs; the old one stays published."
        case .retire: "The old key leaves the published set."
        case .replace: "Another key signs, and the old ones leave at once."
        case .sameKID: "Another key signs under the name of the old one."
        case .break: "Requests for the published keys get an error."
        case .repair: "Requests for the published keys get the keys again."
        }
    }
}

extension Vendor {
    /// Rotates or breaks the keys of an issuer, with its spare pairs: an action cannot wait for a new one.
    ///
    /// - Parameter noun: the vendor's word for an issuer of keys.
    package static func drillKeys(of noun: String) -> VendorAction<Self> {
        action(
            "drill-keys", about: "Rotates or breaks the keys of one \(noun).",
            members: [
                .required("issuer", "name of the \(noun)"),
                .required(
                    "drill",
                    KeyDrill.allCases.map(\.rawValue).joined(separator: ", ") + "; without a spare pair only those "
                        + "that need none"),
            ]
        ) { (call, state) throws(ControlRefusal) in
            let (name, text) = (try call.required("issuer"), try call.required("drill"))
            let drill = try ControlRefusal.require(
                KeyDrill(rawValue: text), "no drill is called", text, among: KeyDrill.allCases.map(\.rawValue))
            let issuers = call.vendor.issuers(in: state)
            var keys = try ControlRefusal.require(
                issuers.first(where: { $0.name == name }), "no \(noun) is called", name, among: issuers.map(\.name))
            try ControlRefusal.require(
                keys.perform(drill, with: nil, call.identifiers),
                "\(name) has no spare pair; the call keys/\(identity.id)/\(name)/\(text) waits for a new one")
            call.vendor.store(keys, in: &state)
            return ["issuer": .string(name), "kids": .array(keys.published.map { JSON($0.key.id) })]
        }
    }
}
