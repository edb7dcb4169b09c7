// Divides, reopens, flushes and counts the regions of a table; run as a source file with HBase's jars on the class path.
//   Regions split TABLE KEY-IN-HEX | Regions reopen TABLE | Regions flush TABLE | Regions count TABLE

import java.util.HexFormat;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;

public class Regions {
  public static void main(String[] words) throws Exception {
    TableName table = TableName.valueOf(words[1]);
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Admin admin = connection.getAdmin()) {
      switch (words[0]) {
        case "split" -> {
          int before = admin.getRegions(table).size();
          admin.split(table, HexFormat.of().parseHex(words[2]));
          for (int i = 0; i < 600 && admin.getRegions(table).size() == before; ++i) Thread.sleep(100);
        }
        case "reopen" -> {
          // One region server has nowhere to move a region to: it is closed and opened again, as at a move.
          for (RegionInfo region : admin.getRegions(table)) {
            admin.unassign(region.getRegionName(), false);
            admin.assign(region.getRegionName());
          }
        }
        case "flush" -> admin.flush(table);
        default -> System.out.println(admin.getRegions(table).size());
      }
    }
  }
}
