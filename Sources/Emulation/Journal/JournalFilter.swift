/// Which entries of a journal are meant; what is `nil` admits every entry.
public struct JournalFilter: Sendable {
    /// The vendor's id.
    public var vendor: String?
    /// The route's id.
    public var route: String?
    /// The status code.
    public var status: Int?
    /// The failure's name.
    public var failure: String?
    /// The earliest moment, by the sandbox's clock.
    public var since: Moment?
    /// The entry after whose number the meant ones come.
    public var after: Int?

    /// A filter that admits every entry.
    public init() {}

    /// Whether the entry is meant.
    public func admits(_ entry: JournalEntry) -> Bool {
        (vendor == nil || entry.record.vendor == vendor)
            && (route == nil || entry.record.route == route)
            && (status == nil || entry.response.status.code == status)
            && (failure == nil || entry.record.failure == failure)
            && since.map { entry.moment >= $0 } != false
            && after.map { entry.id > $0 } != false
    }
}
