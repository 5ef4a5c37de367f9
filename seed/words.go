package seed

// Words of our own, from which names and texts are made. Changing a list
// changes the content of every data set that is made from it.
var (
	firstNames = []string{
		"Ada", "Alan", "Amina", "Anna", "Bea", "Carlos", "Chen", "Clara", "Daniel", "Dora", "Elif", "Emil", "Eva", "Farah", "Felix",
		"Grace", "Hana", "Hugo", "Ida", "Igor", "Ines", "Ivan", "Jana", "Jonas", "Julia", "Kenji", "Lara", "Leo", "Lina", "Luca", "Maja",
		"Marco", "Mila", "Nadia", "Noah", "Nora", "Olga", "Omar", "Paul", "Petra", "Priya", "Rosa", "Ruth", "Sami", "Sara", "Tariq", "Tom",
		"Uma", "Vera", "Viktor", "Wei", "Yara", "Yusuf", "Zoe",
	}
	lastNames = []string{
		"Adler", "Bauer", "Becker", "Berg", "Castro", "Costa", "Dahl", "Diaz", "Egger", "Farkas", "Fischer", "Garcia", "Gruber",
		"Haas", "Hansen", "Horvat", "Ito", "Jansen", "Kaya", "Keller", "Khan", "Kim", "Koch", "Kovacs", "Kumar", "Lang", "Larsen", "Lopez",
		"Maier", "Marin", "Mendes", "Meyer", "Moreau", "Nagy", "Novak", "Okafor", "Olsen", "Park", "Petrov", "Popov", "Reyes", "Richter",
		"Rossi", "Sato", "Schmid", "Silva", "Singh", "Sokolov", "Tanaka", "Vogel", "Wagner", "Weber", "Wolf", "Yilmaz",
	}
	cities = []string{
		"Aarhus", "Bergen", "Bilbao", "Bologna", "Cork", "Dresden", "Genoa", "Ghent", "Graz", "Kyoto", "Leeds", "Lima", "Linz", "Lyon",
		"Malaga", "Nantes", "Osaka", "Porto", "Pune", "Quito", "Riga", "Split", "Tartu", "Turin", "Utrecht", "Vienna", "Zagreb", "Zurich",
	}
	streets = []string{
		"Acorn Lane", "Bridge Street", "Canal Road", "Castle Hill", "Cherry Way", "Church Street", "Forest Road", "Garden Row",
		"Harbour View", "High Street", "Lake Drive", "Linden Avenue", "Market Square", "Meadow Lane", "Mill Road", "Orchard Close",
		"Park Avenue", "River Walk", "School Lane", "Station Road", "Sunset Drive", "Valley Road", "Well Street", "Windmill Lane",
	}
	interests = []string{
		"astronomy", "baking", "bicycles", "birds", "board games", "chess", "climbing", "cooking", "dance", "drawing", "films", "fishing",
		"football", "gardening", "history", "knitting", "maps", "music", "painting", "photography", "poetry", "running", "sailing", "theatre",
	}
	textWords = []string{
		"a", "about", "after", "again", "all", "almost", "also", "always", "and", "any", "arrived", "as", "at", "bad", "battery", "because",
		"been", "before", "best", "better", "between", "book", "bought", "box", "broke", "but", "button", "buy", "cable", "came", "can",
		"cheap", "clean", "colour", "comfortable", "could", "day", "days", "delivery", "different", "does", "easy", "enough", "even", "every",
		"excellent", "expected", "family", "far", "fast", "few", "fine", "first", "fit", "for", "found", "from", "gift", "good", "great", "had",
		"hard", "has", "have", "heavy", "here", "home", "house", "how", "however", "idea", "if", "in", "instead", "instructions", "into", "is",
		"it", "just", "kitchen", "know", "large", "last", "less", "light", "like", "little", "long", "look", "lot", "made", "makes", "many",
		"material", "me", "month", "more", "most", "much", "my", "need", "never", "new", "nice", "no", "not", "nothing", "now", "of", "often",
		"old", "on", "once", "one", "only", "or", "order", "other", "our", "out", "over", "own", "package", "paper", "part", "perfect", "piece",
		"plastic", "price", "problem", "product", "quality", "quickly", "quiet", "quite", "rather", "read", "really", "recommend", "return",
		"same", "screen", "second", "seems", "sent", "several", "she", "shop", "should", "simple", "since", "size", "small", "smell", "so",
		"soft", "some", "soon", "sound", "still", "strong", "sturdy", "such", "sure", "table", "than", "that", "the", "their", "then", "there",
		"these", "they", "thing", "think", "this", "time", "to", "too", "tool", "two", "under", "until", "up", "use", "used", "useful", "very",
		"wanted", "was", "water", "we", "week", "weeks", "well", "were", "what", "when", "which", "while", "will", "with", "without", "wood",
		"work", "works", "worth", "would", "year", "years", "you", "your",
	}
)
