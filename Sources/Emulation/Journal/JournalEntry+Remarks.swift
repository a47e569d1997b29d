package import Tokens
internal import Wire

extension JournalEntry {
    /// Every check made, in the vendor's order, and remarks on how the call arrived.
    ///
    /// The remarks follow from the entry, so they are computed when it is read.
    package var findings: [Finding] { record.findings + remarks }

    private var remarks: [Finding] { [slashes, clock].compactMap(\.self) }

    /// What an accepted call was remarked on, in one line; `nil` for nothing, and for a refused call, which has its
    /// reason.
    var note: String? {
        guard record.failure == nil else { return nil }
        let noted = record.checks.noted + remarks
        return noted.isEmpty ? nil : noted.map(\.remark).joined(separator: "; ")
    }

    /// A path that matched its route only because extra slashes are ignored.
    private var slashes: Finding? {
        guard record.route != nil else { return nil }
        let path = request.path
        let isDoubled = path.utf8.contains("//".utf8)
        guard isDoubled || path.utf8.count > 1 && path.utf8.last == UInt8(ascii: "/") else { return nil }
        let plain = "/" + path.split(separator: "/").joined(separator: "/")
        guard plain != path else { return nil }
        return Finding(
            isDoubled ? "double-slash" : "trailing-slash", .noted, expected: .text(plain), found: .text(String(path)),
            note: isDoubled
                ? "It is accepted here; the base address probably ends in a slash."
                : "It is accepted here without the slash too.",
            source: "ours")
    }

    /// A clock at the end of its range.
    private var clock: Finding? {
        guard moment >= Moment.representable.upperBound else { return nil }
        return Finding(
            "clock", .noted, expected: .timeUpTo(Moment.representable.upperBound.unixSeconds),
            found: .time(moment.unixSeconds), note: SandboxClock.runOutNote, source: "ours")
    }
}
