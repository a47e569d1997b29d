import Synchronization

/// The newest entries of a journal as a file keeps them, each written once.
final class KeptEntries: Sendable {
    fileprivate struct Written {
        let entry: JournalEntry
        /// Empty for an entry that is too long.
        let text: [UInt8]
    }

    fileprivate struct Content {
        /// By number. A reset gives numbers again, so the entries count.
        var written: [Int: Written] = [:]
        /// Has masked the texts.
        var redactor = Redactor()
    }

    private let limits: Journal.Limits
    private let content = Mutex(Content())

    init(_ limits: Journal.Limits) {
        self.limits = limits
    }

    /// What is kept of these entries, which are in order.
    func texts(of entries: [JournalEntry], by writer: EntryWriter) -> [[UInt8]] {
        content.withLock { content in
            content.mask(by: writer.redactor)
            var (kept, final, bytes): ([[UInt8]], [Int: Written], Int) = ([], [:], 0)
            for entry in entries.suffix(limits.keptEntries).reversed() {
                let text = content.text(of: entry) ?? text(of: entry, by: writer)
                bytes += text.count
                guard bytes <= limits.keptBytes else { break }
                if !text.isEmpty { kept.append(text) }
                // Messages of a socket come later.
                if entry.record.socket == nil { final[entry.id] = Written(entry: entry, text: text) }
            }
            content.written = final
            return kept.reversed()
        }
    }

    private func text(of entry: JournalEntry, by writer: EntryWriter) -> [UInt8] {
        let longest = limits.keptBytes / 4
        let text = writer.text(of: entry)
        guard text.count > longest, entry.kept == nil else { return text }
        var brief = entry
        brief.omitBodies()
        let rest = writer.text(of: brief)
        // Thousands of findings may be left.
        return rest.count > longest ? [] : rest
    }
}

extension KeptEntries.Content {
    /// Hides in all texts what has become known as a secret since they were written.
    fileprivate mutating func mask(by redactor: Redactor) {
        guard !self.redactor.knowsTheSame(as: redactor) else { return }
        written = written.mapValues { KeptEntries.Written(entry: $0.entry, text: redactor.answer($0.text)) }
        self.redactor = redactor
    }

    fileprivate func text(of entry: JournalEntry) -> [UInt8]? {
        written[entry.id].flatMap { $0.entry.isSame(as: entry) ? $0.text : nil }
    }
}

extension Journal {
    /// The newest entries for a file, oldest first; none unless they are to be kept.
    func keptTexts(by writer: @autoclosure () -> EntryWriter) -> [[UInt8]] {
        kept?.texts(of: entries(), by: writer()) ?? []
    }

    /// Brings back entries of a file.
    func restore(_ entries: [JournalEntry]) {
        for entry in entries { put(entry) }
    }
}
