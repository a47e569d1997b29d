import Synchronization

/// What a sandbox knows to be secret: the fixtures' texts, and those that its states have learned since.
///
/// Made when somebody reads, and from then on only added to: to look whether there is news costs one lock a vendor.
final class SecretIndex: Sendable {
    private struct Content {
        var layers: [KnownSecrets] = []
        var marks: [SecretMark?] = []
        var count = 0
    }

    /// ours: of more than so many, all are collected anew, and those that the states have forgotten are gone.
    private static let capacity = 400_000

    private let content = Mutex(Content())

    /// The texts that the vendors have learned, in layers of which each is some times as large as the next.
    func layers(of vendors: [any SandboxedVendor]) -> [KnownSecrets] {
        content.withLock { content in
            if content.marks.count != vendors.count || content.count > Self.capacity {
                content = Content(marks: vendors.map { _ in nil })
            }
            for (index, vendor) in vendors.enumerated() {
                guard let (texts, mark) = vendor.secrets(since: content.marks[index]) else { continue }
                content.marks[index] = mark
                Self.add(texts, &content)
            }
            return content.layers
        }
    }

    private static func add(_ texts: [String], _ content: inout Content) {
        if texts.isEmpty { return }
        content.count += texts.count
        content.layers.append(KnownSecrets(texts))
        // Each text moves a few times only, however they come in.
        while let last = content.layers.last, let other = content.layers.dropLast().last, other.count < 2 * last.count {
            content.layers.removeLast(2)
            content.layers.append(KnownSecrets(other.texts.union(last.texts)))
        }
    }
}

/// What the fixtures say that nobody may see, and what everybody may; put together when somebody reads.
final class FixtureSecrets: Sendable {
    private let vendors: [any LoadedVendor]
    private let made = Mutex<(KnownSecrets, published: Set<String>)?>(nil)

    init(of vendors: [any LoadedVendor]) {
        self.vendors = vendors
    }

    /// The secrets, and the public texts.
    var texts: (secrets: KnownSecrets, published: Set<String>) {
        made.withLock { made in
            if let made { return made }
            let texts = (
                KnownSecrets(vendors.flatMap(\.secretTexts)),
                published: Set(vendors.flatMap { $0.samples.map(\.value) })
            )
            made = texts
            return texts
        }
    }
}
