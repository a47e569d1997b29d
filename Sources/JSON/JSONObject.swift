/// The members of a JSON object in the order of the text, including repeated names.
public struct JSONObject: Sendable, Hashable {
    public struct Member: Sendable, Hashable {
        /// The name, unescaped.
        public var name: String
        public var value: JSON

        public init(name: String, value: JSON) {
            self.name = name
            self.value = value
        }

        /// Whether name and value are equal, the name byte for byte.
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

    /// The first member with that name, compared byte for byte.
    ///
    /// Setting replaces that member in place, or appends one; setting `nil` removes all members with the name.
    public subscript(name: String) -> JSON? {
        get {
            guard let position = position(of: name) else { return nil }
            return members[position].value
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

    /// The position of the first member with that name.
    public func position(of name: String) -> Int? {
        // By index, since a closure would copy every member it visits; lengths first, for the same reason.
        let length = name.utf8.count
        for index in members.indices where members[index].name.utf8.count == length {
            if members[index].name.hasSameBytes(as: name) { return index }
        }
        return nil
    }

    /// The first member of that name, unless it is null.
    public func present(_ name: String) -> JSON? {
        // No closure with nil in it: that would be a null.
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }

    /// Appends a member even if the name already occurs.
    public mutating func append(_ name: String, _ value: JSON) {
        members.append(Member(name: name, value: value))
    }

    /// Whether a name occurs more than once. For few members this is faster than listing the duplicates.
    public var repeatsName: Bool {
        guard members.count <= 16 else { return !duplicateNames.isEmpty }
        for index in members.indices {
            for earlier in 0..<index where members[earlier].name.utf8.count == members[index].name.utf8.count {
                if members[earlier].name.hasSameBytes(as: members[index].name) { return true }
            }
        }
        return false
    }

    /// The names that occur more than once, each listed once, in byte order.
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
    /// The position after the last member.
    public var endIndex: Int { members.endIndex }
    public subscript(position: Int) -> Member { members[position] }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object with its members in the literal's order.
    public init(dictionaryLiteral elements: (String, JSON)...) { self.init(elements) }
}
