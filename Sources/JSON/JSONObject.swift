/// The members of a JSON object in the order of the text, repeated names included.
public struct JSONObject: Sendable, Hashable {
    /// One member of an object.
    public struct Member: Sendable, Hashable {
        /// The name, unescaped.
        public var name: String
        /// The value.
        public var value: JSON

        /// A member of that name and value.
        public init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }

        /// Whether name and value are the same, the name byte for byte.
        public static func == (left: Member, right: Member) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }
    }

    /// The members in order.
    public private(set) var members: [Member]

    /// An object with these members, in order; names may repeat.
    public init(_ members: some Sequence<(String, JSON)> = []) {
        self.members = members.map(Member.init(name:value:))
    }

    init(members: [Member]) {
        self.members = members
    }

    /// The first member of that name, compared byte for byte.
    ///
    /// Setting replaces the first member of that name in its place, or appends one; setting `nil` removes all of them.
    public subscript(name: String) -> JSON? {
        get {
            // By index: a search with a closure copies every member that it passes. By length first, for the same reason.
            let length = name.utf8.count
            for index in members.indices where members[index].name.utf8.count == length {
                if members[index].name.hasSameBytes(as: name) { return members[index].value }
            }
            return nil
        }
        set {
            guard let newValue else {
                members.removeAll { $0.name.hasSameBytes(as: name) }
                return
            }
            if let index = members.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
                members[index].value = newValue
            } else {
                members.append(Member(name: name, value: newValue))
            }
        }
    }

    /// The first member of that name, unless it is null.
    public func present(_ name: String) -> JSON? {
        // No closure with nil in it: that would be a null.
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }

    /// Appends a member, also when one of that name is there already.
    public mutating func append(_ name: String, _ value: JSON) {
        members.append(Member(name: name, value: value))
    }

    /// Whether a name occurs more than once; for few members quicker than listing them.
    public var repeatsName: Bool {
        guard members.count <= 16 else { return !duplicateNames.isEmpty }
        for index in members.indices {
            for earlier in 0..<index where members[earlier].name.utf8.count == members[index].name.utf8.count {
                if members[earlier].name.hasSameBytes(as: members[index].name) { return true }
            }
        }
        return false
    }

    /// Names that occur more than once, each listed once, in the order of their bytes.
    public var duplicateNames: [String] {
        guard members.count > 1 else { return [] }
        let names = members.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var duplicates: [String] = []
        for (name, next) in zip(names, names.dropFirst()) where name.hasSameBytes(as: next) {
            if duplicates.last?.hasSameBytes(as: name) != true { duplicates.append(name) }
        }
        return duplicates
    }
}

extension JSONObject: RandomAccessCollection {
    /// The position of the first member.
    public var startIndex: Int { members.startIndex }
    /// The position behind the last member.
    public var endIndex: Int { members.endIndex }
    /// The member at that position.
    public subscript(position: Int) -> Member { members[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object whose members stand in the literal's order.
    public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }
}
