extension FixtureStore {
    /// The maximum total size of the files in bytes: every change reads them again.
    private static let mostBytes = 256 << 20

    /// A short string that changes when any file of these folders does, as seen through the layers.
    ///
    /// - Throws: the first entry that cannot be read as a file or exceeds a limit.
    package func fingerprint(of folders: [String]) throws(FixtureProblem) -> String {
        var hash = Hash()
        var count = 0
        for path in try paths(below: folders) {
            let bytes = try bytes(at: path)
            count += bytes.count
            guard count <= Self.mostBytes else {
                throw FixtureProblem(
                    file: path, message: "the fixtures up to here have \(count) bytes; \(Self.mostBytes) are allowed")
            }
            hash.mix(Array(path.utf8))
            hash.mix(bytes)
        }
        return hash.text
    }

    /// A file that has disappeared, or that is not needed and may not be read, counts by its name alone.
    private func bytes(at path: String) throws(FixtureProblem) -> [UInt8] {
        switch look(path) {
        case .content(_, let file): file.bytes
        case .absent, .unreadable: []
        case .refused(let problem): throw problem
        }
    }

    /// Based on FNV-1a, eight bytes at a time: it distinguishes versions and protects nothing.
    private struct Hash {
        private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

        private mutating func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x100_0000_01B3
            hash ^= hash >> 32
        }

        mutating func mix(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { bytes in
                let end = bytes.count & ~7
                for offset in stride(from: 0, to: end, by: 8) {
                    mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                }
                mix(bytes[end...].reduce(UInt64(bytes.count)) { $0 << 8 | UInt64($1) })
            }
        }

        var text: String {
            let digits = String(hash, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }

    /// The files below a layer that were read, and those that were not, by their paths within it.
    ///
    /// - Throws: the first entry that is neither file nor folder, leaves the layer, or exceeds a limit.
    package func usage(of layer: String) throws(FixtureProblem) -> (read: [String], unread: [String]) {
        let walk = FixtureWalk(layer, below: "")
        if let problem = walk.problem { throw problem }
        let all = walk.paths.sorted()
        return (all.filter { wasRead(Self.join(layer, $0)) }, all.filter { !wasRead(Self.join(layer, $0)) })
    }

    /// The files below these folders in any layer, sorted.
    private func paths(below folders: [String]) throws(FixtureProblem) -> [String] {
        var paths: Set<String> = []
        for walk in walks(below: folders) {
            if let problem = walk.problem { throw problem }
            paths.formUnion(walk.paths)
        }
        return paths.sorted()
    }

    func walks(below folders: [String]) -> [FixtureWalk] {
        layers.flatMap { layer in folders.map { FixtureWalk(layer, below: $0) } }
    }
}
